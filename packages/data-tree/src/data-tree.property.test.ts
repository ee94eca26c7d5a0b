import { OPEN_ACL, OpCode, type Request } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DataTree } from "./data-tree.ts";
import { applyTxn, check, create, remove, setAcl, setData, TestTree } from "./testing/tree.ts";

const PATHS = ["/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/z", "/a/", "/", "/zookeeper/quota/q"];
const path = fc.constantFrom(...PATHS);
const version = fc.constantFrom(-1, -1, 0, 1, 2);
const data = fc.constantFrom(null, "", "x", "y".repeat(200));
const acl = fc.constantFrom(OPEN_ACL, [{ perms: 15, scheme: "world", id: "anyone" }]);

const write: fc.Arbitrary<Request> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(path, data, fc.nat(4)).map(([path, data, flags]) => create(path, { data, flags })) },
  { weight: 1, arbitrary: path.map((path) => create(path, { op: OpCode.CREATE_CONTAINER })) },
  { weight: 1, arbitrary: path.map((path) => create(path, { op: OpCode.CREATE_TTL, flags: 6, ttlMs: 77 })) },
  { weight: 3, arbitrary: fc.tuple(path, version).map(([path, version]) => remove(path, version)) },
  { weight: 3, arbitrary: fc.tuple(path, data, version).map(([path, data, version]) => setData(path, data, version)) },
  { weight: 1, arbitrary: fc.tuple(path, acl, version).map(([path, acl, version]) => setAcl(path, acl, version)) },
  { weight: 1, arbitrary: fc.tuple(path, version).map(([path, version]) => check(path, version)) },
);

type Step =
  | { readonly kind: "write"; readonly request: Request; readonly session: number; readonly lag: number }
  | { readonly kind: "multi"; readonly requests: readonly Request[]; readonly session: number; readonly lag: number }
  | { readonly kind: "close"; readonly session: number; readonly lag: number };

const session = fc.nat(2);
const lag = fc.nat(6);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("write" as const), request: write, session, lag }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("multi" as const),
      requests: fc.array(write, { maxLength: 5 }),
      session,
      lag,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const), session, lag }) },
);

/** The decisions of a leader, in a form that compares. */
function run(steps: readonly Step[], hashSeed: number, isPipelined: boolean): { test: TestTree; decided: unknown[] } {
  const test = new TestTree(hashSeed);
  const decided: unknown[] = [];
  const lows = [100, 100, 100];
  for (const one of steps) {
    const low = lows[one.session];
    test.context.sessionHigh = one.session;
    test.context.sessionLow = low;
    if (!test.tree.isSessionUsable(one.session, low)) test.proposeSession(one.session, low);
    if (one.kind === "write") decided.push(test.propose(one.request));
    else if (one.kind === "multi") decided.push(test.proposeMulti(one.requests));
    else {
      decided.push(test.proposeClose(one.session, low).sort());
      lows[one.session]++;
    }
    while (test.queue.length > (isPipelined ? one.lag : 0)) test.applyNext();
  }
  test.applyAll();
  return { test, decided };
}

test("what is decided about a pipeline is what would be decided one by one", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
      const pipelined = run(steps, 1, true);
      const oneByOne = run(steps, 2, false);
      expect(pipelined.decided).toEqual(oneByOne.decided);
      expect(pipelined.test.digest()).toBe(oneByOne.test.digest());
      expect([...pipelined.test.tree.snapshot()]).toEqual([...oneByOne.test.tree.snapshot()]);
      expect(pipelined.test.tree.pendingCount).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("a follower, and a tree loaded from a snapshot, equal the leader in every sum", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
      const { test } = run(steps, 1, true);
      const follower = new DataTree({ hashKey: { k0: 3, k1: 7 } });
      for (const txn of test.history) applyTxn(follower, txn);
      const loaded = new DataTree({ hashKey: { k0: 4, k1: 7 } });
      loaded.loadSnapshot(test.tree.snapshot());
      expect(sums(follower)).toEqual(sums(test.tree));
      expect(sums(loaded)).toEqual(sums(test.tree));
      expect([...loaded.snapshot()]).toEqual([...test.tree.snapshot()]);
    }),
    { numRuns: 150 },
  );
});

function sums(tree: DataTree): unknown[] {
  return [
    tree.digestHigh,
    tree.digestLow,
    tree.applied,
    tree.snapshot().next().value,
    tree.nodeCount,
    tree.approximateDataSize,
    tree.ephemeralCount,
    tree.sessionCount,
  ];
}
