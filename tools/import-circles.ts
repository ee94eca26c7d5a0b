/**
 * Finds files of a package that import each other, directly or over others. Imports of types count.
 */

/** A circle of imports that stays, since its files need each other. */
export interface AllowedCircle {
  readonly name: string;
  /** One of its files. */
  readonly file: string;
  /** The number of its files, which may only fall. */
  readonly fileCount: number;
  readonly reason: string;
}

/** See docs/architecture.md, "Circles of imports". */
export const ALLOWED_CIRCLES: readonly AllowedCircle[] = [
  {
    name: "the leader",
    file: "packages/zab/src/leader/leader.ts",
    fileCount: 10,
    reason: "the phases of the paper share its state, and each lets others continue",
  },
  {
    name: "the driver",
    file: "packages/server/src/driver/turn-loop.ts",
    fileCount: 5,
    reason: "a turn applies and proposes, and what is left opens the next turn",
  },
  {
    name: "requests",
    file: "packages/replica/src/requests/client-requests.ts",
    fileCount: 6,
    reason: "a request that waits comes back to the start",
  },
  {
    name: "opening sessions",
    file: "packages/replica/src/sessions/connect-requests.ts",
    fileCount: 3,
    reason: "a connect request creates or renews a session, which answers it",
  },
  {
    name: "sessions and their ends",
    file: "packages/replica/src/sessions/sessions.ts",
    fileCount: 2,
    reason: "a new leader takes over sessions that are ending",
  },
  {
    name: "a run of the simulator",
    file: "packages/simulator/src/runs/run.ts",
    fileCount: 6,
    reason: "simulated clients and observations act on the run they are in",
  },
];

/** Imports by file; each import is another file's path, as a key of the map. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"([^"\n]+)"/g;

/** The specifiers behind `import` and `from` in a module, as they are written. */
export function importedSpecifiers(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map(([, specifier]) => specifier ?? "");
}

/** The relative specifiers of a module's imports and exports, as they are written. */
export function relativeImports(text: string): readonly string[] {
  return importedSpecifiers(text).filter((specifier) => /^\.\.?\//.test(specifier));
}

/** The groups of files in which each reaches each other by imports, in alphabetical order. */
export function findCircles(graph: ImportGraph): readonly (readonly string[])[] {
  const reachable = new Map([...graph.keys()].map((file) => [file, reachableFrom(graph, file)]));
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

/** Circles that are not allowed or have grown, and entries that are too large. */
export function circleFaults(
  circles: readonly (readonly string[])[],
  allowed: readonly AllowedCircle[],
): readonly string[] {
  const faults = circles.flatMap((circle) => {
    const entry = allowed.find(({ file }) => circle.includes(file));
    if (entry === undefined) return [`these files import each other:\n  ${circle.join("\n  ")}`];
    if (circle.length <= entry.fileCount) return [];
    return [`${entry.name} has ${circle.length} files, was ${entry.fileCount}:\n  ${circle.join("\n  ")}`];
  });
  for (const { name, file, fileCount } of allowed) {
    const found = circles.find((circle) => circle.includes(file))?.length ?? 0;
    if (found < fileCount) faults.push(`${name} has ${found} files: lower its entry in tools/import-circles.ts`);
  }
  return faults;
}

function reachableFrom(graph: ImportGraph, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const next of graph.get(file) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}
