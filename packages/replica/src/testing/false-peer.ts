import { type Chain, type LinkRef, OpCode, type PeerMessage, serverId, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { expect } from "vitest";
import { TEST_TICK_MS, TestEnsemble } from "./ensemble.ts";
import { create } from "./requests.ts";

/** Numbers that a message may hold, those near what the ensemble is at among them. */
const small = fc.integer({ min: 0, max: 5 });
const epoch = fc.oneof(small, fc.constantFrom(1, 2, 3, 2 ** 20));
const zxid = fc
  .tuple(fc.oneof(small, epoch), fc.oneof(small, fc.integer({ min: 0, max: 2 ** 31 })))
  .map(([high, low]) => (high * 2 ** 32 + low) as Zxid);
const bytes = fc.uint8Array({ maxLength: 64 });
const number = fc.oneof(fc.nat(), fc.maxSafeNat());
const half = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const position = fc.record({ zxid, chain: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value as Chain) });
const run = bytes.map((value) => ({ bytes: value, start: 0, end: value.length }));

const messages: fc.Arbitrary<PeerMessage> = fc.oneof(
  fc.record({
    kind: fc.constant("learner-info" as const),
    isObserver: fc.boolean(),
    promise: fc.record({ epoch, sid: small.map(serverId), incarnation: small }),
    isFresh: fc.boolean(),
    isAmnesiac: fc.boolean(),
    isOwn: fc.boolean(),
    configVersion: zxid,
    attemptId: fc.constantFrom("", "made by 1", "made by 3"),
    ensembleId: fc.constantFrom("", "made by 3", "another"),
  }),
  fc.record({
    kind: fc.constant("leader-info" as const),
    epoch,
    incarnation: small,
    ensembleId: fc.constantFrom("", "made by 3"),
  }),
  fc.record({
    kind: fc.constant("ack-epoch" as const),
    isRepeated: fc.boolean(),
    currentEpoch: epoch,
    logged: position,
    floor: zxid,
    tails: fc.array(fc.record({ epoch, last: small }), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("staged" as const), epoch, through: zxid }),
  fc.record({ kind: fc.constant("ack-new-leader" as const), epoch, through: zxid }),
  fc.record({ kind: fc.constant("up-to-date" as const), epoch, committed: zxid }),
  fc.record({ kind: fc.constant("ack" as const), epoch, durable: zxid, check: small }),
  fc.record({ kind: fc.constant("commit" as const), epoch, committed: zxid }),
  fc.record({ kind: fc.constant("ping" as const), epoch, check: small, committed: zxid, lacksRoom: fc.boolean() }),
  fc.record({
    kind: fc.constant("pong" as const),
    room: fc.constantFrom("enough" as const, "low" as const, "full" as const),
    epoch,
    check: small,
    applied: zxid,
    touches: fc.array(fc.record({ sessionHigh: half, sessionLow: half, timeoutMs: number }), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("leadership-transfer" as const), epoch, successor: small.map(serverId) }),
  fc.record({
    kind: fc.constant("refuse" as const),
    reason: fc.constantFrom("not-leading" as const, "epoch-low" as const, "diverged" as const, "unable" as const),
    text: fc.string(),
  }),
  fc.record({
    kind: fc.constant("identities" as const),
    client: number,
    identities: fc.array(fc.record({ scheme: fc.string(), id: fc.string() }), { maxLength: 3 }),
  }),
  run.map((at) => ({ kind: "forward" as const, count: 1, ...at })),
  fc.record({
    kind: fc.constantFrom("open-session" as const, "revalidate" as const),
    sequence: small,
    sessionHigh: half,
    sessionLow: half,
    timeoutMs: number,
    passwordHash: fc.uint8Array({ maxLength: 32 }),
  }),
  fc.record({ kind: fc.constant("revalidated" as const), sequence: small, isValid: fc.boolean() }),
  fc.record({ kind: fc.constant("sync" as const), sequence: small }),
  fc.record({ kind: fc.constant("sync-reply" as const), sequence: small, readAt: zxid }),
);

/**
 * Whatever a learner sends to its leader, no server fails, and the others continue or elect. The
 * messages are well-formed ones that no server sends: their sender holds the secret, and what it
 * says of the log is believed.
 */
export function surviveFalsePeer(numRuns: number): void {
  fc.assert(
    fc.property(fc.array(messages, { minLength: 1, maxLength: 6 }), (said) => {
      const ensemble = new TestEnsemble(3);
      const [liar] = ensemble.followers;
      if (liar === undefined) throw new Error("no follower");
      const { leader } = ensemble;
      const link: LinkRef = ensemble.linkOf(liar);
      leader.ask(leader.open(), OpCode.CREATE, create("/before"));
      for (const message of said) {
        leader.replica.receivePeer(link, message);
        ensemble.run();
      }
      ensemble.cutOff(liar);
      ensemble.advance(60 * TEST_TICK_MS);
      const after = ensemble.leader;
      expect(after.ask(after.open(), OpCode.CREATE, create("/after"))).toBe("path /after");
    }),
    { numRuns },
  );
}
