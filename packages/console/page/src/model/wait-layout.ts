/**
 * Places of the sessions of a wait-for graph: in columns, each behind the sessions that it waits
 * for.
 */
import type { RecipesJson, WaitJson } from "../../../src/api/recipe-shapes.ts";

export interface Box {
  readonly session: string;
  readonly column: number;
  readonly row: number;
  readonly isInCycle: boolean;
}

export interface Edge {
  readonly from: Box;
  readonly to: Box;
  readonly path: string;
  readonly isInCycle: boolean;
}

export interface WaitLayout {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
  readonly columnCount: number;
  readonly rowCount: number;
  /** Sessions that are not drawn. */
  readonly restCount: number;
}

/** More boxes than these are no picture any more. */
export const BOXES_MAX = 60;

export function waitLayout({ waits, cycles }: Pick<RecipesJson, "waits" | "cycles">): WaitLayout {
  const inCycle = new Set(cycles.flatMap(({ waits: all }) => all.map(edgeKey)));
  const cyclic = new Set(cycles.flatMap(({ waits: all }) => all.map(({ from }) => from)));
  const columns = columnsOf(waits, cyclic);
  const rows: number[] = [];
  const boxes = new Map<string, Box>();
  for (const [session, column] of [...columns].slice(0, BOXES_MAX)) {
    const row = rows[column] ?? 0;
    rows[column] = row + 1;
    boxes.set(session, { session, column, row, isInCycle: cyclic.has(session) });
  }
  const edges = waits.flatMap((wait): readonly Edge[] => {
    const [from, to] = [boxes.get(wait.from), boxes.get(wait.to)];
    return from === undefined || to === undefined
      ? []
      : [{ from, to, path: wait.path, isInCycle: inCycle.has(edgeKey(wait)) }];
  });
  return {
    boxes: [...boxes.values()],
    edges,
    columnCount: rows.length,
    rowCount: Math.max(0, ...rows),
    restCount: columns.size - boxes.size,
  };
}

/**
 * Breadth first, from the sessions that wait for none; a cycle without such a session begins at its
 * first.
 */
function columnsOf(waits: readonly WaitJson[], cyclic: ReadonlySet<string>): ReadonlyMap<string, number> {
  const waiters = new Map<string, string[]>();
  for (const { from, to } of waits) waiters.set(to, [...(waiters.get(to) ?? []), from]);
  const waiting = new Set(waits.map(({ from }) => from));
  const columns = new Map<string, number>();
  const spread = (start: string): void => {
    if (columns.has(start)) return;
    columns.set(start, 0);
    const queue = [start];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      for (const next of waiters.get(at) ?? []) {
        if (columns.has(next)) continue;
        columns.set(next, (columns.get(at) ?? 0) + 1);
        queue.push(next);
      }
    }
  };
  for (const { to } of waits) if (!waiting.has(to)) spread(to);
  for (const session of cyclic) spread(session);
  return columns;
}

function edgeKey({ from, to, path }: WaitJson): string {
  return `${from} ${to} ${path}`;
}
