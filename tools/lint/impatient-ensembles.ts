import { parseAst } from "vite";

type Node = Readonly<Record<string, unknown>>;

/** Calls that start a server in the process of a test. */
const STARTS: ReadonlySet<string> = new Set(["startServer", "startTestServer"]);

/**
 * Lines of a test, or of its support, with the options of one server of several, `{ sid, servers }`
 * without a `syncLimit` or `...PATIENT` of `packages/server/src/testing/patient.ts`: on a busy
 * machine such an ensemble elects again between two requests. A `sid` that is a number belongs to
 * the only server of its test, which waits for no other.
 */
export function impatientEnsembles(source: string): readonly number[] {
  const found: number[] = [];
  let isStarting = false;
  const visit = (value: unknown): void => {
    if (!isRecord(value)) return;
    if (isOfNoServer(value)) return;
    if (value["type"] === "CallExpression" && STARTS.has(nameOf(value["callee"]))) isStarting = true;
    if (value["type"] === "ObjectExpression" && isImpatient(value))
      found.push(source.slice(0, Number(value["start"])).split("\n").length);
    for (const each of Object.values(value)) visit(each);
  };
  visit(parseAst(source, { lang: "ts" }));
  return isStarting ? found : [];
}

/** Options that are parsed, or belong to a part of a server that is tried alone. */
function isOfNoServer({ type, callee }: Node): boolean {
  return type === "NewExpression" || (type === "CallExpression" && nameOf(callee) === "parseServerConfig");
}

function isImpatient({ properties }: Node): boolean {
  const parts = Array.isArray(properties) ? properties.filter(isRecord) : [];
  const fieldOf = (name: string): Node | undefined => {
    const value = parts.find(({ key }) => nameOf(key) === name)?.["value"];
    return isRecord(value) ? value : undefined;
  };
  const sid = fieldOf("sid");
  if (sid === undefined || sid["type"] === "Literal" || fieldOf("servers") === undefined) return false;
  const isPatient = parts.some(({ type, argument }) => type === "SpreadElement" && nameOf(argument) === "PATIENT");
  return !isPatient && fieldOf("syncLimit") === undefined;
}

function nameOf(value: unknown): string {
  return isRecord(value) && value["type"] === "Identifier" ? String(value["name"]) : "";
}

function isRecord(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
