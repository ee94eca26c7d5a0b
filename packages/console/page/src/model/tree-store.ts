/** The loaded part of the tree, and the rows that it makes. Nothing here knows of the page. */
import type { ChildJson, ChildrenJson } from "../../../src/api/shapes.ts";
import type { Change } from "./live.ts";
import { childOf, nameOf, parentOf } from "./place.ts";

export interface NodeRow {
  readonly kind: "node";
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly childCount: number;
  readonly isEphemeral: boolean;
  readonly isExpanded: boolean;
}
/** The place of children that are not loaded yet, or of what went wrong. */
export interface MoreRow {
  readonly kind: "more";
  readonly path: string;
  readonly depth: number;
  readonly error: string | undefined;
  readonly restCount: number;
}
export type Row = NodeRow | MoreRow;

interface Loaded {
  children: readonly ChildJson[];
  /** The cursor of the next page; null: all are loaded; undefined: none is. */
  next: string | null | undefined;
  childCount: number;
  error: string | undefined;
  isLoading: boolean;
}

export type LoadPage = (path: string, after: string | undefined, filter: string | undefined) => Promise<ChildrenJson>;

export class TreeStore {
  readonly #load: LoadPage;
  readonly #changed: () => void;
  readonly #loaded = new Map<string, Loaded>();
  readonly #expanded = new Set<string>(["/"]);
  #filter = "";
  #rows: readonly Row[] | undefined;

  constructor(load: LoadPage, changed: () => void) {
    this.#load = load;
    this.#changed = changed;
  }

  get rows(): readonly Row[] {
    this.#rows ??= this.#flatten();
    return this.#rows;
  }

  get filter(): string {
    return this.#filter;
  }

  /** Names below the root, or below every expanded node, that contain this text. */
  setFilter(filter: string): void {
    if (this.#filter === filter) return;
    this.#filter = filter;
    this.reload();
  }

  isExpanded(path: string): boolean {
    return this.#expanded.has(path);
  }

  expand(path: string): void {
    this.#expanded.add(path);
    this.#update();
    if (this.#of(path).next === undefined) void this.loadMore(path);
  }

  collapse(path: string): void {
    this.#expanded.delete(path);
    this.#update();
  }

  /** Expands all ancestors of a node. */
  reveal(path: string): void {
    for (let at = path; at !== "/"; ) {
      at = parentOf(at);
      if (!this.#expanded.has(at) || this.#of(at).next === undefined) this.expand(at);
    }
  }

  async loadMore(path: string): Promise<void> {
    const loaded = this.#of(path);
    if (loaded.isLoading || loaded.next === null) return;
    loaded.isLoading = true;
    const after = loaded.next;
    const filter = this.#filter;
    try {
      const page = await this.#load(path, after, filter === "" ? undefined : filter);
      if (this.#loaded.get(path) !== loaded) return;
      const known = new Set(loaded.children.map(({ name }) => name));
      const added = page.children.filter(({ name }) => !known.has(name));
      // Expanded nodes stay, whatever the filter: their children are filtered as well.
      const kept = after === undefined && filter !== "" ? this.#expandedBelow(path, page.children) : [];
      loaded.children = [...loaded.children, ...added, ...kept];
      loaded.next = page.next;
      loaded.childCount = page.stat.numChildren;
      loaded.error = undefined;
    } catch (error) {
      loaded.error = error instanceof Error ? error.message : String(error);
    } finally {
      loaded.isLoading = false;
      this.#update();
    }
  }

  /** Reads every expanded node again, from its first page. */
  reload(): void {
    this.#loaded.clear();
    this.#update();
    for (const path of this.#expanded) void this.loadMore(path);
  }

  /** @returns whether rows have changed */
  apply(changes: readonly Change[]): void {
    for (const { type, path } of changes) {
      if (path === "/") continue;
      if (type === "created") this.#created(path);
      if (type === "deleted") this.#deleted(path);
    }
    this.#update();
  }

  #created(path: string): void {
    const parent = parentOf(path);
    this.#count(parent, 1);
    const loaded = this.#loaded.get(parent);
    if (loaded === undefined || loaded.next === undefined) return;
    const name = nameOf(path);
    if (this.#filter !== "" && !name.toLowerCase().includes(this.#filter.toLowerCase())) return;
    // A name behind the loaded pages comes with its page.
    if (loaded.next !== null && compareNames(name, loaded.next) > 0) return;
    if (loaded.children.some((child) => child.name === name)) return;
    const at = loaded.children.findIndex((child) => compareNames(child.name, name) > 0);
    loaded.children = loaded.children.toSpliced(at === -1 ? loaded.children.length : at, 0, { name });
  }

  #deleted(path: string): void {
    const parent = parentOf(path);
    this.#count(parent, -1);
    this.#loaded.delete(path);
    this.#expanded.delete(path);
    const loaded = this.#loaded.get(parent);
    if (loaded === undefined) return;
    const name = nameOf(path);
    loaded.children = loaded.children.filter((child) => child.name !== name);
  }

  /** The number beside a node, and of its rest. */
  #count(path: string, change: number): void {
    const loaded = this.#loaded.get(path);
    if (loaded !== undefined) loaded.childCount += change;
    const above = this.#loaded.get(parentOf(path));
    if (path === "/" || above === undefined) return;
    const name = nameOf(path);
    above.children = above.children.map((child) => {
      if (child.name !== name) return child;
      const stat = child.stat ?? UNKNOWN;
      return { name, stat: { ...stat, numChildren: Math.max(0, stat.numChildren + change) } };
    });
  }

  #expandedBelow(path: string, children: readonly ChildJson[]): readonly ChildJson[] {
    const known = new Set(children.map(({ name }) => name));
    return [...this.#expanded]
      .filter((own) => own !== "/" && parentOf(own) === path && !known.has(nameOf(own)))
      .map((own) => ({ name: nameOf(own) }));
  }

  #of(path: string): Loaded {
    let loaded = this.#loaded.get(path);
    if (loaded === undefined) {
      loaded = { children: [], next: undefined, childCount: 0, error: undefined, isLoading: false };
      this.#loaded.set(path, loaded);
    }
    return loaded;
  }

  #update(): void {
    this.#rows = undefined;
    this.#changed();
  }

  #flatten(): readonly Row[] {
    const rows: Row[] = [];
    const root = this.#of("/");
    const isExpanded = this.#expanded.has("/");
    const { childCount } = root;
    rows.push({ kind: "node", path: "/", name: "/", depth: 0, childCount, isEphemeral: false, isExpanded });
    if (isExpanded) this.#flattenBelow("/", 1, rows);
    return rows;
  }

  #flattenBelow(path: string, depth: number, rows: Row[]): void {
    const { children, next, childCount, error } = this.#of(path);
    for (const { name, stat } of children) {
      const own = childOf(path, name);
      const isExpanded = this.#expanded.has(own);
      const isEphemeral = stat?.ephemeralOwner != null;
      rows.push({
        kind: "node",
        path: own,
        name,
        depth,
        isEphemeral,
        isExpanded,
        childCount: this.#loaded.get(own)?.childCount || (stat?.numChildren ?? 0),
      });
      if (isExpanded) this.#flattenBelow(own, depth + 1, rows);
    }
    if (next !== null) {
      rows.push({ kind: "more", path, depth, error, restCount: Math.max(0, childCount - children.length) });
    }
  }
}

/** The Stat of a child that was created after its page was read. */
const UNKNOWN = {
  czxid: "0x0",
  mzxid: "0x0",
  pzxid: "0x0",
  ctime: "0",
  mtime: "0",
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: null,
  dataLength: 0,
  numChildren: 0,
};

/** By bytes of UTF-8, as servers list names: by code points. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.codePointAt(i) ?? 0, b.codePointAt(i) ?? 0];
    if (x !== y) return x - y;
  }
  return a.length - b.length;
}
