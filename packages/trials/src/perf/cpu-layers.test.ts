import { expect, test } from "vitest";
import { type CpuProfile, layersOf } from "./cpu-layers.ts";

/**
 * A profile of stacks, each a list of `url name` from the outermost, and the microseconds that each
 * was seen.
 */
function profileOf(...stacks: readonly (readonly [us: number, ...frames: string[]])[]): CpuProfile {
  const nodes: { id: number; callFrame: { functionName: string; url: string }; children: number[] }[] = [];
  const add = (frame: string): number => {
    const [, url = "", functionName = ""] = /^(\S*) (.*)$/.exec(frame) ?? [];
    nodes.push({ id: nodes.length + 1, callFrame: { functionName, url }, children: [] });
    return nodes.length;
  };
  add(" (root)");
  const samples: number[] = [];
  for (const [, ...frames] of stacks) {
    let at = 1;
    for (const frame of frames) {
      const id = add(frame);
      nodes[at - 1]?.children.push(id);
      at = id;
    }
    samples.push(at);
  }
  return { nodes, startTime: 1000, samples, timeDeltas: [0, ...stacks.map(([us]) => us)] };
}

const TREE = "file:///x/packages/data-tree/dist/";

test("each sample counts for the time until the next one, for the layer of its innermost frame", () => {
  const profile = profileOf(
    [10, "node:net onread", "file:///x/packages/wire/dist/framer.js push"],
    [30, "node:net onread", `${TREE}apply-txn.js apply`],
    [50, " (idle)"],
    [70, " (garbage collector)"],
    [90, " (program)"],
  );
  expect(Object.fromEntries(layersOf(profile))).toEqual({
    "wire decode": 10,
    apply: 30,
    idle: 50,
    collector: 70,
    "Node.js and native code: kernel receive, polling, timers": 90,
  });
});

test("what layers share belongs to the one that called it", () => {
  const profile = profileOf(
    [10, `${TREE}prepare/prepare-txn.js prepare`, `${TREE}nodes/node-store.js find`],
    [20, `${TREE}apply-txn.js apply`, `${TREE}nodes/node-store.js find`],
    [40, "node:internal/timers tick", `${TREE}nodes/node-store.js compact`],
  );
  expect(Object.fromEntries(layersOf(profile))).toEqual({ prepare: 10, apply: 20, tree: 40 });
});

test("native writes are the kernel's, wherever they are called; waking the log thread is part of the hand-over", () => {
  const profile = profileOf(
    [10, "file:///x/packages/server/dist/peers/quorum-links.js flush", "node:net writeGeneric", " writev"],
    [20, "file:///x/packages/txn-log/dist/append-ring.js push", " notify"],
  );
  expect(Object.fromEntries(layersOf(profile))).toEqual({ "kernel send": 10, "log hand-over": 20 });
});

test("a thread that waits is idle", () => {
  const profile = profileOf([10, "file:///x/packages/txn-log/dist/log-thread.js run", " wait"]);
  expect(Object.fromEntries(layersOf(profile))).toEqual({ idle: 10 });
});

test("only what was seen within the time counts", () => {
  const profile = profileOf(
    [10, `${TREE}apply-txn.js a`],
    [20, `${TREE}apply-txn.js b`],
    [40, `${TREE}apply-txn.js c`],
  );
  expect(layersOf(profile, { fromUs: 1005, toUs: 1025 }).get("apply")).toBe(20);
});
