import {
  type Chain,
  composeZxid,
  type EntriesMessage,
  FRAME_HEADER_BYTES,
  type PeerMessage,
  ZXID_NONE,
} from "@zooid/model";
import { expect, test } from "vitest";
import { entryOf } from "../testing/false-leader.ts";
import { NOTHING, PEER, Script } from "../testing/script.ts";

const REST = { endsAmnesia: false, ensembleId: "", config: undefined, committedConfig: undefined } as const;

function kindsOf(script: Script): readonly string[] {
  return script.events.map(({ kind }) => kind);
}

test("a history that continues another one is not installed before the log is compared", () => {
  const script = new Script();
  script.syncsWithPeer();
  for (const counter of [1, 2]) script.leads(script.peer, entryOf(counter));
  script.leadsAgain(2);
  const { disk } = script.server;
  const from = { zxid: composeZxid(1, 1), chain: 77n as Chain };
  script.peer.send({ kind: "sync-begin", epoch: 2, mode: "trunc", from, epochs: [] });
  script.peer.send({ kind: "new-leader", epoch: 2, through: from.zxid, ...REST });
  script.run();
  expect(kindsOf(script)).toContain("histories-differ");
  expect([disk.log.durable.tail.zxid, disk.log.durable.currentEpoch]).toEqual([composeZxid(1, 2), 1]);
});

test("and what follows it waits for the same", () => {
  const script = new Script();
  script.syncsWithPeer();
  for (const counter of [1, 2]) script.leads(script.peer, entryOf(counter));
  script.leadsAgain(2);
  const { log } = script.server.disk;
  const from = { zxid: composeZxid(1, 1), chain: log.chainNow(composeZxid(1, 1)) ?? (0n as Chain) };
  script.peer.send({ kind: "sync-begin", epoch: 2, mode: "trunc", from, epochs: [] });
  script.peer.send({ kind: "new-leader", epoch: 2, through: from.zxid, ...REST });
  script.peer.send({ ...entryOf(1, 2), previous: from.zxid });
  script.run();
  expect([log.durable.tail.zxid, log.durable.currentEpoch]).toEqual([composeZxid(2, 1), 2]);
});

test("what is known to be committed is not cut, applied or not", () => {
  const script = new Script();
  script.followsPeer();
  script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
  script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
  script.leads(script.peer, { kind: "new-leader", epoch: 1, through: ZXID_NONE, ...REST });
  script.leads(script.peer, { ...entryOf(1), committed: composeZxid(1, 1) });
  script.leadsAgain(2);
  script.peer.send({ kind: "sync-begin", epoch: 2, mode: "trunc", from: NOTHING, epochs: [] });
  script.peer.send({ kind: "new-leader", epoch: 2, through: ZXID_NONE, ...REST });
  script.run();
  expect(kindsOf(script)).toContain("applied-beyond");
  expect(script.server.disk.log.durable.tail.zxid).toBe(composeZxid(1, 1));
});

test.each<[string, PeerMessage]>([
  [
    "no entries, that end elsewhere",
    { ...entryOf(1), first: composeZxid(1, 9), last: composeZxid(1, 9), count: 0, end: 0 },
  ],
  ["an entry that is no transaction", damaged(entryOf(1), FRAME_HEADER_BYTES)],
  ["a transaction of an operation that there is not", entryOf(1, 1, 77)],
  ["entries of a later epoch", entryOf(1, 2)],
  ["entries that go on in a later epoch", joined(entryOf(1), entryOf(1, 2))],
  ["entries with a gap", joined(entryOf(1), entryOf(3))],
  ["a successor, in another epoch", { kind: "leadership-transfer", epoch: 2, successor: PEER }],
])("a leader that sends %s is left, and the log does not get it", (_, message) => {
  const script = new Script();
  script.syncsWithPeer();
  script.leads(script.peer, message);
  expect(kindsOf(script)).toContain("illegal-message");
  expect(script.server.disk.log.durable.tail.zxid).toBe(ZXID_NONE);
});

test.each([
  ["in no order", [2, 1]],
  ["beyond its end", [1, 2, 3]],
])("a state whose epochs are %s is not received", (_, epochs) => {
  const script = new Script();
  script.followsPeer();
  script.leads(script.peer, { kind: "leader-info", epoch: 3, incarnation: 1, ensembleId: "" });
  const from = { zxid: composeZxid(2, 1), chain: 7n as Chain };
  const table = epochs.map((epoch) => ({ epoch, first: 1, last: 1 }));
  script.leads(script.peer, { kind: "sync-begin", epoch: 3, mode: "snap", from, epochs: table });
  expect(kindsOf(script)).toContain("illegal-message");
});

test("a history that continues beyond the leader's epoch is not staged", () => {
  const script = new Script();
  script.followsPeer();
  script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
  script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
  script.leads(script.peer, { ...joined(entryOf(1), entryOf(1, 5)) });
  expect(kindsOf(script)).toContain("illegal-message");
});

/** The message with another byte at one place of its entries. */
function damaged(message: EntriesMessage, at: number): EntriesMessage {
  const bytes = message.bytes.slice();
  bytes[at] = 0x7f;
  return { ...message, bytes };
}

function joined(some: EntriesMessage, more: EntriesMessage): EntriesMessage {
  const bytes = Buffer.concat([some.bytes, more.bytes]);
  return { ...some, last: more.last, count: some.count + more.count, bytes, end: bytes.length };
}
