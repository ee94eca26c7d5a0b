import { EPOCH_ALARM, EPOCH_MAX, type Member, serverId } from "@zooid/model";
import { ApacheTree, apacheTransaction } from "@zooid/txn-log/sqlite";
import { transaction } from "@zooid/wire/testing/apache-transactions";
import { expect, test } from "vitest";
import { creating, opening } from "../../testing/apache-directory.ts";
import type { ApacheEnsemble } from "./choose-voter.ts";
import { type ImportPlan, planImport } from "./import-plan.ts";

const OF_ONE = 0x0100_0000_0000_0001n;
const OF_NINE = 0x0900_0000_0000_0001n;

/** Two sessions with an ephemeral node each, and a node of a session that has ended. */
function ensemble(epochMax = 5): ApacheEnsemble {
  const tree = new ApacheTree();
  tree.addBuiltIn();
  const written = [
    opening(1n, OF_ONE, 4000),
    opening(2n, OF_NINE, 4000),
    creating(3n, "/a", { session: OF_ONE, isEphemeral: true }),
    creating(4n, "/b", { session: OF_NINE, isEphemeral: true }),
    creating(5n, "/c", { session: 0x0300_0000_0000_0001n, isEphemeral: true }),
  ];
  for (const each of written) tree.apply(apacheTransaction(transaction(each)));
  const state = { snapshotFile: "s", logFiles: [], zxid: 5n, timeMs: 1, isDigestChecked: false, tree };
  const files = { snapshots: [], logs: [] };
  const taken = { directories: { dataDir: "a" }, files, sid: 1, acceptedEpoch: 5, currentEpoch: 5, zxid: 5n };
  return { voters: [taken], taken, state, epochMax };
}

function member(sid: number): Member {
  return {
    sid: serverId(sid),
    host: "zk",
    quorumPort: 2888,
    electionPort: 3888,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
  };
}

function keeping(sid?: number): ImportPlan {
  return planImport(ensemble(), { sessions: "keep", member: sid === undefined ? undefined : member(sid) });
}

test("the new history begins 1024 epochs above Apache's", () => {
  expect(keeping().epoch).toBe(5 + 1024);
});

test("sessions are counted with their ephemerals, and apart from them what ended sessions left", () => {
  expect(keeping()).toMatchObject({
    keptSessionCount: 2,
    keptEphemeralCount: 2,
    endedSessionCount: 1,
    orphanCount: 1,
    leftOutCount: 0,
  });
});

test("dropped sessions leave nothing, and nothing to warn of", () => {
  expect(planImport(ensemble(), { sessions: "drop", member: member(1) })).toMatchObject({
    keptSessionCount: 0,
    orphanCount: 0,
    leftOutCount: 3,
    warnings: [],
  });
});

test.each([
  [undefined, "1, 9: give"],
  [1, "1, 9, and this server is number 1, too: give"],
  [4, "1, 9, this server is 4: give"],
])("the numbers that begin the ids of kept sessions are named to server %s", (sid, text) => {
  expect(keeping(sid).warnings).toEqual([expect.stringContaining(text)]);
});

test.each([
  [EPOCH_ALARM - 1025, 0],
  [EPOCH_ALARM - 1024, 1],
  [EPOCH_MAX - 1025, 1],
])("from epoch %i on the new history has so few epochs left that %i warning says so", (epochMax, count) => {
  const { warnings } = planImport(ensemble(epochMax), { sessions: "drop", member: undefined });
  expect(warnings.filter((text) => text.includes(`the last one is ${EPOCH_MAX - 1}`))).toHaveLength(count);
});

test.each([EPOCH_MAX - 1024, 2 ** 31, 9_999_999_999])("epoch %d leaves none", (epochMax) => {
  expect(() => planImport(ensemble(epochMax), { sessions: "keep", member: undefined })).toThrow(
    `Apache's highest epoch is ${epochMax}, and the new history would begin 1024 above it, at ${epochMax + 1024}: the last epoch is ${EPOCH_MAX - 1}`,
  );
});
