import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { BasicLeaderElection } from "./basic-leader-election.ts";
import { ELECTION_DEFAULTS, type ElectionConfig } from "./config.ts";
import { createElection } from "./create-election.ts";
import { FastLeaderElection } from "./fast-leader-election.ts";
import { majorityOf } from "./testing/elections.ts";

function create(changes: Partial<ElectionConfig>): unknown {
  const verifier = majorityOf(3);
  const config = { ...ELECTION_DEFAULTS, sid: serverId(1), verifier, candidates: verifier.voters, random: () => 0.5 };
  return createElection({ ...config, ...changes }, { send: () => {}, decided: () => {} });
}

test("electionAlg 3, the default, is fast leader election, and 0 the basic one", () => {
  expect(create({})).toBeInstanceOf(FastLeaderElection);
  expect(create({ algorithm: 3 })).toBeInstanceOf(FastLeaderElection);
  expect(create({ algorithm: 0 })).toBeInstanceOf(BasicLeaderElection);
});

test.each([
  [1, "electionAlg 1 (fast leader election over UDP) is not offered: anyone who can send a datagram could vote; use 3"],
  [2, "electionAlg 2 (fast leader election over UDP, with a challenge to each sender) is not offered"],
  [4, "electionAlg is 3 or 0, found 4"],
  [Number.NaN, "electionAlg is 3 or 0, found NaN"],
])("electionAlg %d is refused with the reason", (algorithm, reason) => {
  expect(() => create({ algorithm })).toThrow(reason);
});

test.each<[Partial<ElectionConfig>, string]>([
  [{ settleMsMin: 201 }, "settleMsMin is above settleMsMax"],
  [{ resendMsMin: 6000 }, "resendMsMin is above resendMsMax"],
  [{ resendMsMin: 0 }, "resendMsMin is a whole number of milliseconds from 1, found 0"],
  [{ pollWaitMs: 1.5 }, "pollWaitMs is a whole number of milliseconds from 1, found 1.5"],
  [{ askDelayMsMax: -1 }, "askDelayMsMax is a whole number of milliseconds from 0, found -1"],
])("a configuration that cannot work is refused: %o", (changes, problem) => {
  expect(() => create(changes)).toThrow(new RangeError(problem));
});

test("all problems are named at once", () => {
  expect(() => create({ algorithm: 1, settleMsMin: 300, pollWaitMs: 0 })).toThrow(
    /electionAlg 1.*pollWaitMs.*settleMsMin/,
  );
});
