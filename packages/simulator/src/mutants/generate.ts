import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { type AnyNode, parse } from "acorn";
import { Prng } from "../cluster/prng.ts";
import { edgeReplacementsOf, type Replacement, replacementsOf } from "./operators.ts";

/** One generated mutation of one source file. */
export interface Mutant extends Replacement {
  /** From the repository's root. */
  readonly file: string;
  readonly line: number;
}

export const ROOT: string = join(import.meta.dirname, "..", "..", "..", "..");

/** Folders of sources, and the mutations of a node of them. */
export interface Mutated {
  readonly folders: readonly string[];
  readonly replacementsOf: typeof replacementsOf;
}

/** The sources that the simulator's seeds run. */
export const REPLICATION: Mutated = {
  folders: ["zab", "election", "replica", "data-tree"].map((name) => `packages/${name}/src`),
  replacementsOf,
};
/** The sources around it, for which there are tests alone. */
export const SURROUNDINGS: Mutated = {
  folders: [
    "packages/model",
    "packages/wire",
    "packages/peer-protocol",
    "packages/txn-log",
    "packages/backup",
    "packages/server",
    "packages/client",
    "packages/recipes",
    "packages/console",
    "packages/doctor",
    "packages/java-files",
    "packages/apache-peer",
    "apps/server",
    "apps/cli",
    "apps/console",
  ].map((place) => `${place}/src`),
  replacementsOf: (node, text) => [...replacementsOf(node, text), ...edgeReplacementsOf(node, text)],
};
/** A check, or the text of an error: not what the code does. */
const SKIPPED_CALLS = new Set(["assert", "assertNever"]);

/** Every mutation of some sources, in the order of files and lines. */
export function allMutants(of: Mutated = REPLICATION, root: string = ROOT): readonly Mutant[] {
  return of.folders
    .flatMap((folder) => filesOf(root, folder))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8"), of));
}

/** The same sample for the same source and seed. */
export function sampleOf(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const random = new Prng(seed, "mutants");
  const left = [...mutants];
  const sample: Mutant[] = [];
  while (sample.length < count && left.length > 0) sample.push(...left.splice(random.below(left.length), 1));
  return sample;
}

/**
 * The mutations of one source text. Types are replaced by white space, so what is left has the
 * places of the source.
 */
export function mutantsOf(
  file: string,
  source: string,
  { replacementsOf }: Pick<Mutated, "replacementsOf"> = REPLICATION,
): readonly Mutant[] {
  const program = parse(stripTypeScriptTypes(source), { ecmaVersion: "latest", sourceType: "module" });
  const mutants: Mutant[] = [];
  const text = ({ start, end }: AnyNode): string => source.slice(start, end);
  const visit = (node: AnyNode): void => {
    if (isSkipped(node)) return;
    for (const each of replacementsOf(node, text)) {
      mutants.push({ ...each, file, line: source.slice(0, each.start).split("\n").length });
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(program);
  return mutants;
}

/** The source with the mutation in it. */
export function mutated(source: string, { start, end, text }: Replacement): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** The mutation as a difference of lines. */
export function describeMutant(mutant: Mutant, source: string): string {
  const { start, end, file, line, operator, text } = mutant;
  const first = source.lastIndexOf("\n", start - 1) + 1;
  const next = source.indexOf("\n", end);
  const last = next === -1 ? source.length : next;
  const lines = (from: string, sign: string): string => from.replaceAll(/^/gm, `${sign} `);
  const before = source.slice(first, last);
  const after = source.slice(first, start) + text + source.slice(end, last);
  return `${file}:${line} (${operator})\n${lines(before, "-")}\n${lines(after, "+")}`;
}

function isSkipped(node: AnyNode): boolean {
  if (node.type === "ThrowStatement") return true;
  if (node.type !== "CallExpression" && node.type !== "ExpressionStatement") return false;
  const call = node.type === "ExpressionStatement" ? node.expression : node;
  return call.type === "CallExpression" && call.callee.type === "Identifier" && SKIPPED_CALLS.has(call.callee.name);
}

function* childrenOf(node: AnyNode): Generator<AnyNode> {
  for (const value of Object.values(node) as unknown[]) {
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(child)) yield child;
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function filesOf(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/(\.(test|bench|d)|-contract)\.ts$|(^|\/)testing\//.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}
