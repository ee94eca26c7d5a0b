/**
 * Places within the page live in the fragment of its address: a node's name is never part of a
 * request's path.
 */
export const PAGES = [
  "ensemble",
  "tree",
  "transaction",
  "transfer",
  "sessions",
  "recipes",
  "hot",
  "metrics",
  "live",
  "words",
  "audit",
] as const;
export type PageName = (typeof PAGES)[number];

/**
 * Beginning of the page's and the API's paths, where the port serves several ensembles; else empty.
 */
export const PREFIX: string = /^(\/ensembles\/[\w.-]+)\/console\//.exec(globalThis.location?.pathname ?? "")?.[1] ?? "";

export interface Place {
  readonly page: PageName;
  readonly params: Readonly<Record<string, string>>;
}

export function parsePlace(hash: string): Place {
  const [, name = "", query = ""] = /^#?\/?([a-z]*)\??(.*)$/s.exec(hash) ?? [];
  const page = PAGES.find((known) => known === name) ?? "ensemble";
  return { page, params: Object.fromEntries(new URLSearchParams(query)) };
}

export function placeHash(page: PageName, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#/${page}${query === "" ? "" : `?${query}`}`;
}

export function goTo(page: PageName, params: Readonly<Record<string, string>> = {}): void {
  location.hash = placeHash(page, params);
}

export function nodeHash(path: string, tab = ""): string {
  return placeHash("tree", { path, tab });
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}

export function childOf(path: string, name: string): string {
  return path === "/" ? `/${name}` : `${path}/${name}`;
}
