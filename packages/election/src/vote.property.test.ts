import { composeZxid, type ServerId, serverId, type Vote } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { beats, better, compareVotes } from "./vote.ts";

// Few values, so that equal fields are common: that is where an order goes wrong.
const votes: fc.Arbitrary<Vote> = fc
  .record({
    leader: fc.integer({ min: 1, max: 5 }),
    zxidEpoch: fc.integer({ min: 0, max: 3 }),
    counter: fc.integer({ min: 1, max: 3 }),
    peerEpoch: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ leader, zxidEpoch, counter, peerEpoch }) => ({
    leader: serverId(leader),
    zxid: composeZxid(zxidEpoch, counter),
    peerEpoch,
  }));
const candidates: fc.Arbitrary<ReadonlySet<ServerId>> = fc
  .subarray([1, 2, 3, 4, 5].map(serverId))
  .map((sids) => new Set(sids));

test("of two different votes exactly one stands higher", () => {
  fc.assert(
    fc.property(votes, votes, (a, b) => {
      const isEqual = a.leader === b.leader && a.zxid === b.zxid && a.peerEpoch === b.peerEpoch;
      expect(Math.sign(compareVotes(a, b))).toBe(0 - Math.sign(compareVotes(b, a)));
      expect(compareVotes(a, b) === 0).toBe(isEqual);
    }),
    { numRuns: 2000 },
  );
});

test("what stands above what stands above a third stands above that", () => {
  fc.assert(
    fc.property(fc.array(votes, { minLength: 3, maxLength: 3 }), (three) => {
      const [lowest, middle, highest] = three.toSorted(compareVotes);
      if (lowest === undefined || middle === undefined || highest === undefined) return;
      expect(compareVotes(lowest, middle)).toBeLessThanOrEqual(0);
      expect(compareVotes(middle, highest)).toBeLessThanOrEqual(0);
      expect(compareVotes(lowest, highest)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 2000 },
  );
});

test("beating is strict and transitive, with servers of weight 0 too, and total among candidates", () => {
  fc.assert(
    fc.property(votes, votes, votes, candidates, (a, b, c, eligible) => {
      expect(beats(a, a, eligible)).toBe(false);
      expect(beats(a, b, eligible) && beats(b, a, eligible)).toBe(false);
      if (beats(a, b, eligible) && beats(b, c, eligible)) expect(beats(a, c, eligible)).toBe(true);
      if (eligible.has(a.leader) && eligible.has(b.leader) && compareVotes(a, b) !== 0) {
        expect(beats(a, b, eligible) !== beats(b, a, eligible)).toBe(true);
      }
      if (beats(a, b, eligible)) expect(eligible.has(a.leader)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test("the order in which votes are heard does not matter, once a candidate is among them", () => {
  fc.assert(
    fc.property(fc.array(votes, { minLength: 1, maxLength: 6 }), candidates, fc.integer(), (heard, eligible, turn) => {
      if (!heard.some(({ leader }) => eligible.has(leader))) return;
      const first = ((turn % heard.length) + heard.length) % heard.length;
      const turned = [...heard.slice(first), ...heard.slice(0, first)].reverse();
      const best = (list: readonly Vote[]) => list.reduce((own, next) => better(next, own, eligible));
      expect(best(turned)).toEqual(best(heard));
    }),
    { numRuns: 2000 },
  );
});
