/**
 * Finds files of a package that import each other, directly or over others. Imports of types count.
 */

/** A file whose importers it may import too. */
export interface AllowedHub {
  readonly file: string;
  readonly reason: string;
}

const OWN_PARTS = "decision 0011: parts find each other in one object, whose type names them all";

/**
 * Imports of these files are not followed. What they have in common: an object that its parts
 * share, and the part is typed by the object.
 */
export const ALLOWED_HUBS: readonly AllowedHub[] = [
  { file: "packages/replica/src/replica-parts.ts", reason: OWN_PARTS },
  { file: "packages/server/src/driver/driver-parts.ts", reason: OWN_PARTS },
  { file: "packages/zab/src/leader/leader.ts", reason: "the phases of a leader share its state" },
  {
    file: "packages/replica/src/requests/pending-syncs.ts",
    reason: "a connection holds its syncs, which answer on it",
  },
  { file: "packages/server/src/config.ts", reason: "it checks the names of admin commands, whose AdminView shows it" },
  {
    file: "packages/simulator/src/runs/run.ts",
    reason: "simulated clients and observations act on the run they are in",
  },
  { file: "packages/simulator/src/cluster/server.ts", reason: "a server calls its watcher with itself" },
  { file: "packages/simulator/src/scenarios/scenario-run.ts", reason: "commands of a scenario act on its run" },
  { file: "packages/simulator/src/scenarios/world.ts", reason: "observations of a scenario's world are part of it" },
];

/** Imports by file; each import is another file's path, as a key of the map. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"([^"\n]+)"/g;

/** What stands behind `import` and `from` in a module, as it is written. */
export function importedSpecifiers(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map(([, specifier]) => specifier ?? "");
}

/** The relative specifiers of a module's imports and exports, as they are written. */
export function relativeImports(text: string): readonly string[] {
  return importedSpecifiers(text).filter((specifier) => /^\.\.?\//.test(specifier));
}

/**
 * The groups of files in which each reaches each other by imports, in alphabetical order.
 *
 * @param hubs imports of these files are left out
 */
export function findCircles(graph: ImportGraph, hubs: readonly AllowedHub[] = []): readonly (readonly string[])[] {
  const skipped = new Set(hubs.map(({ file }) => file));
  const reachable = new Map([...graph.keys()].map((file) => [file, reachableFrom(graph, file, skipped)]));
  const circles: string[][] = [];
  const seen = new Set<string>();
  for (const file of [...graph.keys()].sort()) {
    const reached = reachable.get(file);
    if (seen.has(file) || reached?.has(file) !== true) continue;
    const circle = [...reached].filter((other) => reachable.get(other)?.has(file) === true).sort();
    for (const member of circle) seen.add(member);
    circles.push(circle);
  }
  return circles;
}

/** The allowed files that are in no circle, or do not exist: entries to remove from the list. */
export function unneededHubs(graph: ImportGraph, hubs: readonly AllowedHub[]): readonly AllowedHub[] {
  return hubs.filter((hub) => {
    const others = hubs.filter((other) => other !== hub);
    return !findCircles(graph, others).some((circle) => circle.includes(hub.file));
  });
}

function reachableFrom(graph: ImportGraph, start: string, skipped: ReadonlySet<string>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const next of graph.get(file) ?? []) {
      if (reached.has(next) || skipped.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}
