import { parseAst } from "vite";

export interface FoundTimer {
  readonly line: number;
  /** `setTimeout`, `AbortSignal.timeout` and so on. */
  readonly name: string;
}

/** Where the time stands among the arguments. */
const TIMES: ReadonlyMap<string, number> = new Map([
  ["setTimeout", 1],
  ["AbortSignal.timeout", 0],
  ["timers.setTimeout", 0],
  ["debounceTime", 0],
  ["auditTime", 0],
  ["throttleTime", 0],
  ["sampleTime", 0],
  ["timer", 0],
  ["interval", 0],
]);

/**
 * The timers in the source of a module whose time is not known there: no number, and no name in
 * capitals. Node's timers fire at once where the time exceeds 2^31 - 1 ms.
 */
export function timersIn(source: string): readonly FoundTimer[] {
  const found: FoundTimer[] = [];
  const visit = (value: unknown): void => {
    if (!isRecord(value)) return;
    const name = value["type"] === "CallExpression" ? timerName(value) : undefined;
    if (name !== undefined) found.push({ line: source.slice(0, Number(value["start"])).split("\n").length, name });
    for (const each of Object.values(value)) visit(each);
  };
  visit(parseAst(source, { lang: "ts" }));
  return found;
}

function timerName({ callee, arguments: given }: Readonly<Record<string, unknown>>): string | undefined {
  const name = nameOf(callee);
  const place = TIMES.get(name);
  if (place === undefined || !Array.isArray(given) || given.length <= place) return undefined;
  return isKnown(given[place]) ? undefined : name;
}

function nameOf(callee: unknown): string {
  if (!isRecord(callee)) return "";
  if (callee["type"] === "Identifier") return String(callee["name"]);
  return callee["type"] === "MemberExpression" ? `${nameOf(callee["object"])}.${nameOf(callee["property"])}` : "";
}

function isKnown(time: unknown): boolean {
  if (!isRecord(time)) return false;
  if (time["type"] === "Literal") return true;
  if (time["type"] === "Identifier") return /^[A-Z][A-Z0-9_]*$/.test(String(time["name"]));
  // A minimum with a known time is at most that.
  const isMinimum = time["type"] === "CallExpression" && nameOf(time["callee"]) === "Math.min";
  return isMinimum && Array.isArray(time["arguments"]) && time["arguments"].some(isKnown);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
