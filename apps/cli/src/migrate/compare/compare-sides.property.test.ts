import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ChangingEnsemble,
  type Corrupt,
  ModelFollower,
  ModelServer,
  type ModelTree,
} from "../../testing/changing-ensemble.ts";
import { type Comparison, compareSides } from "./compare-sides.ts";
import type { NodeState } from "./node-state.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const RUNS = 300;

function compare(ensemble: ChangingEnsemble, corrupt?: Corrupt, above?: number): Promise<Comparison> {
  const servers = ["a", "b", "c"].map((name) => new ModelServer(name, ensemble));
  return compareSides({
    servers,
    other: new ModelFollower(ensemble, corrupt, above),
    shownMax: 1000,
    failure: (error) => {
      throw error;
    },
  });
}

/** Ways in which a follower's node can be wrong, each with the part that differs. */
const FAULTS: readonly (readonly [string, (node: NodeState) => NodeState | undefined])[] = [
  ["data", (node) => ({ ...node, data: { ...node.data, sha256: "another" } })],
  ["data", (node) => ({ ...node, version: node.version + 1 })],
  ["acl", (node) => ({ ...node, acl: "[]" })],
  ["acl", (node) => ({ ...node, aversion: node.aversion + 1 })],
  ["children", (node) => ({ ...node, creates: node.creates + 2 })],
  ["children", (node) => ({ ...node, pzxid: node.pzxid - 1 })],
  ["birth", (node) => ({ ...node, owner: 7n })],
  ["node", (node) => ({ ...node, czxid: node.czxid - 1 })],
  ["node", () => undefined],
];

/** Changes one node of a tree, where it is there. */
function changed(path: string, fault: (node: NodeState) => NodeState | undefined): Corrupt {
  return (tree) => {
    const node = tree.get(path);
    if (node === undefined) return tree;
    const copy = new Map(tree);
    const wrong = fault(node);
    if (wrong === undefined) copy.delete(path);
    else copy.set(path, wrong);
    return copy;
  };
}

test("servers and a follower that change and lag are never found different", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const found = await compare(new ChangingEnsemble(seed));
      expect(found.differences).toEqual([]);
      expect([found.unconfirmed.count, found.unread.count, found.belowUnread.count]).toEqual([0, 0, 0]);
    }),
    { numRuns: RUNS },
  );
});

test("a wrong node that does not change is found at each server, in its part, whatever changes beside it", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.constantFrom(...FAULTS), fc.nat(11), async (seed, [part, fault], i) => {
      const path = `/cold/${i}`;
      const found = await compare(new ChangingEnsemble(seed), changed(path, fault));
      const different = found.differences.map((one) => [one.path, one.server, one.parts]);
      expect(different.sort()).toEqual(["a", "b", "c"].map((server) => [path, server, [part]]));
    }),
    { numRuns: RUNS },
  );
});

test("a node that only the follower has is found", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const extra: Corrupt = (tree) => new Map([...tree, ["/cold/extra", tree.get("/cold/0") as NodeState]]);
      const found = await compare(new ChangingEnsemble(seed), extra);
      expect(found.differences.map(({ path, parts, atServer }) => [path, parts, atServer])).toEqual(
        ["a", "b", "c"].map(() => ["/cold/extra", ["node"], "absent"]),
      );
    }),
    { numRuns: RUNS },
  );
});

test("where nothing changes, exactly the nodes are found that differ, also in a history of its own", async () => {
  await fc.assert(
    fc.asyncProperty(
      seeds,
      fc.array(fc.tuple(fc.constantFrom("hot", "cold"), fc.nat(11), fc.constantFrom(...FAULTS))),
      fc.boolean(),
      async (seed, wrong, isOwnHistory) => {
        const ensemble = new ChangingEnsemble(seed);
        ensemble.isQuiet = true;
        const corrupt: Corrupt = (tree) =>
          wrong.reduce<ModelTree>((left, [folder, i, [, fault]]) => changed(`/${folder}/${i}`, fault)(left), tree);
        const found = await compare(ensemble, corrupt, isOwnHistory ? 1024 * 2 ** 32 : 0);
        const [right, other] = [ensemble.treeAt(ensemble.last), corrupt(ensemble.treeAt(ensemble.last))];
        const different = [...right.keys()].filter((path) => {
          const [a, b] = [right.get(path), other.get(path)];
          return b === undefined || JSON.stringify(a, plain) !== JSON.stringify(b, plain);
        });
        expect([...new Set(found.differences.map(({ path }) => path))].sort()).toEqual(different.sort());
        expect(found.moved.count).toBe(0);
      },
    ),
    { numRuns: RUNS },
  );
});

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

test("nodes that may not be read, and all below them, are counted and never taken as equal", async () => {
  const ensemble = new ChangingEnsemble(1);
  ensemble.isQuiet = true;
  const servers = [new ModelServer("a", ensemble, ["/cold"]), new ModelServer("b", ensemble)];
  const found = await compareSides({
    servers,
    other: new ModelFollower(
      ensemble,
      changed("/cold/3", () => undefined),
    ),
    shownMax: 1,
    failure: String,
  });
  expect(found).toMatchObject({
    differenceCount: 1,
    differences: [{ path: "/cold/3", server: "b" }],
    unread: { count: 1, path: "/cold" },
    // The follower lacks one of the twelve.
    belowUnread: { count: 11 },
  });
});

test("a server that fails is named, and the others are compared", async () => {
  const ensemble = new ChangingEnsemble(2);
  ensemble.isQuiet = true;
  const broken = new ModelServer("broken", ensemble);
  broken.readAll = () => Promise.reject(new Error("connection lost"));
  const found = await compareSides({
    servers: [broken, new ModelServer("b", ensemble)],
    other: new ModelFollower(
      ensemble,
      changed("/cold/3", () => undefined),
    ),
    shownMax: 0,
    failure: (error) => (error as Error).message,
  });
  expect(found).toMatchObject({
    failed: [{ server: "broken", reason: "connection lost" }],
    differenceCount: 1,
    differences: [],
  });
});

test("a follower that stands still is behind, and its nodes are compared as far as they did not change", async () => {
  const ensemble = new ChangingEnsemble(3);
  const follower = new ModelFollower(ensemble);
  follower.reach = () => Promise.resolve();
  const frozen = ensemble.treeAt(ensemble.last);
  const zxid = ensemble.zxidAt(ensemble.last);
  follower.readAll = (visitor) => {
    for (const [path, state] of frozen) visitor.node(path, state);
    return Promise.resolve(zxid);
  };
  follower.readSome = (paths) =>
    Promise.resolve({ zxid, nodes: new Map([...frozen].filter(([path]) => paths.has(path))) });
  for (let i = 0; i < 50; i++) ensemble.change();
  const found = await compareSides({
    servers: [new ModelServer("a", ensemble)],
    other: follower,
    shownMax: 10,
    failure: String,
  });
  expect(found.differences).toEqual([]);
  expect(found.isBehind).toBe(true);
  expect(found.moved.path).toMatch(/^\/hot/);
});
