import {
  type ConnectionRef,
  OPEN_ACL,
  sliceOf,
  sliceText,
  WatchEventType,
  WatchMode,
  WatchSelector,
  WatchTableKind,
  ZXID_NONE,
} from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type WatchSink, WatchTable } from "./watch-table.ts";

/** The table as ZooKeeper describes it: a set of (table, path, connection, mode). */
class NaiveWatches {
  readonly watches = new Set<string>();

  arm(kind: number, path: string, connection: number, mode: number): void {
    this.watches.add(`${kind} ${path} ${connection} ${mode}`);
  }

  trigger(type: number, path: string): string[] {
    const served = new Set<number>();
    const tables = { 1: [0], 2: [0, 1], 3: [0], 4: [1] }[type] ?? [];
    for (const table of tables) {
      for (const watch of [...this.watches]) {
        const { kind, path: watched, connection, mode } = parse(watch);
        if (kind !== table) continue;
        if (watched === path) {
          served.add(connection);
          if (mode === WatchMode.STANDARD) this.watches.delete(watch);
        } else if (mode === WatchMode.PERSISTENT_RECURSIVE && isBelow(path, watched)) served.add(connection);
      }
    }
    return [...served].map((connection) => `${connection} ${type} ${path}`).sort();
  }

  remove(path: string, connection: number, selector: number): boolean {
    const named = [...this.watches].filter((watch) => {
      const { kind, path: watched, connection: watcher, mode } = parse(watch);
      if (watched !== path || watcher !== connection) return false;
      if (selector === WatchSelector.CHILDREN) return kind === 1 && mode === 1;
      if (selector === WatchSelector.DATA) return kind === 0 && mode === 1;
      if (selector === WatchSelector.PERSISTENT) return mode === 2;
      return selector === WatchSelector.ANY || mode === 4;
    });
    for (const watch of named) this.watches.delete(watch);
    return named.length > 0;
  }

  removeConnection(connection: number): void {
    for (const watch of [...this.watches]) if (parse(watch).connection === connection) this.watches.delete(watch);
  }

  /** Paths and connections with modes in either table, those of a pair together. */
  counts(): number[] {
    const pairs = (kind: number) => {
      const seen = [...this.watches].map(parse).filter((watch) => watch.kind === kind);
      return {
        all: new Set(seen.map(({ path, connection }) => `${path} ${connection}`)).size,
        paths: new Set(seen.map(({ path }) => path)).size,
        connections: new Set(seen.map(({ connection }) => connection)).size,
      };
    };
    return [pairs(0).all + pairs(1).all, pairs(0).all, pairs(0).paths, pairs(0).connections];
  }
}

function parse(watch: string): { kind: number; path: string; connection: number; mode: number } {
  const [kind, path, connection, mode] = watch.split(" ");
  return { kind: Number(kind), path, connection: Number(connection), mode: Number(mode) };
}

function isBelow(path: string, ancestor: string): boolean {
  return path !== ancestor && path.startsWith(ancestor === "/" ? "/" : `${ancestor}/`);
}

const path = fc.constantFrom("/", "/a", "/a/b", "/a/b/c", "/ab", "/b", "/ä/x");
const connection = fc.nat(4);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("arm" as const),
      // Recursive watches stand in the data table only.
      modes: fc.constantFrom([0, 1], [1, 1], [0, 2], [1, 2], [0, 4]),
      path,
      connection,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("trigger" as const), type: fc.integer({ min: 1, max: 4 }), path }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("remove" as const),
      selector: fc.integer({ min: 1, max: 5 }),
      path,
      connection,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("gone" as const), connection }) },
);

test("the table fires and counts what a plain set of watches does", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const table = new WatchTable({ k0: 5, k1: 7 });
      const naive = new NaiveWatches();
      const events: string[] = [];
      const sink: WatchSink = {
        mayRead: () => true,
        event: (to, _zxid, type, path) => events.push(`${to} ${type} ${sliceText(path)}`),
      };
      for (const one of steps) {
        if (one.kind === "gone") {
          table.removeConnection(one.connection as ConnectionRef);
          naive.removeConnection(one.connection);
        } else if (one.kind === "trigger") {
          const type = EVENT_TYPES[one.type - 1];
          table.trigger(type, sliceOf(one.path), OPEN_ACL, ZXID_NONE, sink);
          expect(events.splice(0).sort()).toEqual(naive.trigger(type, one.path));
        } else {
          const { bytes, start, end } = sliceOf(one.path);
          const to = one.connection as ConnectionRef;
          if (one.kind === "arm") {
            const [kind, mode] = one.modes;
            table.arm(kind === 0 ? WatchTableKind.DATA : WatchTableKind.CHILD, bytes, start, end, to, MODES[mode]);
            naive.arm(kind, one.path, one.connection, mode);
          } else {
            const selector = SELECTORS[one.selector - 1];
            expect(table.remove(bytes, start, end, to, selector)).toBe(
              naive.remove(one.path, one.connection, selector),
            );
          }
        }
        const counts = [table.watchCount, table.dataWatchCount, table.dataPathCount, table.dataConnectionCount];
        expect(counts).toEqual(naive.counts());
      }
      const listed: string[] = [];
      for (const watch of table.list("paths")) {
        if (watch === undefined) continue;
        const { connection, path, dataModes, childModes } = watch;
        for (const mode of [1, 2, 4]) {
          if ((dataModes & mode) !== 0) listed.push(`0 ${sliceText(path)} ${connection} ${mode}`);
          if ((childModes & mode) !== 0) listed.push(`1 ${sliceText(path)} ${connection} ${mode}`);
        }
      }
      expect(listed.sort()).toEqual([...naive.watches].sort());
    }),
    { numRuns: 200 },
  );
});

const EVENT_TYPES: readonly WatchEventType[] = [
  WatchEventType.NODE_CREATED,
  WatchEventType.NODE_DELETED,
  WatchEventType.NODE_DATA_CHANGED,
  WatchEventType.NODE_CHILDREN_CHANGED,
];
const MODES: Record<number, WatchMode> = {
  1: WatchMode.STANDARD,
  2: WatchMode.PERSISTENT,
  4: WatchMode.PERSISTENT_RECURSIVE,
};
const SELECTORS: readonly WatchSelector[] = [
  WatchSelector.CHILDREN,
  WatchSelector.DATA,
  WatchSelector.ANY,
  WatchSelector.PERSISTENT,
  WatchSelector.PERSISTENT_RECURSIVE,
];
