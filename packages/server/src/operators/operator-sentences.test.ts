import { composeZxid, parseMembers, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { sentenceOf } from "./operator-sentences.ts";

const sid = serverId(3);
const zxid = composeZxid(2, 5);
const THREE = parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2");
const FOUR = parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2\nserver.4=d:1:2:observer");
const QUOTA = { kind: "quota", path: "/a", unit: "bytes", limit: 1, usage: 2 } as const;

test.each([
  [
    {
      kind: "list-differs",
      inForce: THREE,
      wish: {
        members: FOUR,
        wishers: [serverId(1), serverId(4)],
        lacking: [serverId(2), serverId(3)],
        unheard: [],
        earlier: [],
      },
    },
    "the list in force is 1, 2, 3; servers 1, 4 have 1, 2, 3 and observers 4 in the file, and servers 2, 3 not: it changes once a quorum of both lists has the new one. " +
      "Edit the files that are wrong, and restart those servers",
  ],
  [
    {
      kind: "list-differs",
      inForce: THREE,
      wish: { members: FOUR, wishers: [serverId(1)], lacking: [serverId(2)], unheard: [], earlier: [serverId(2)] },
    },
    "the list in force is 1, 2, 3; server 1 has 1, 2, 3 and observers 4 in the file, and server 2 not: it cannot be changed while server 2, " +
      "of an earlier version, counts by the file there: upgrade first",
  ],
  [
    {
      kind: "list-differs",
      inForce: THREE,
      wish: {
        members: FOUR,
        wishers: [serverId(1)],
        lacking: [serverId(2), serverId(3)],
        unheard: [serverId(3)],
        earlier: [],
      },
    },
    "the list in force is 1, 2, 3; server 1 has 1, 2, 3 and observers 4 in the file, and server 2 not; server 3 does not follow: it changes once a " +
      "quorum of both lists has the new one. Edit the files that are wrong, and restart those servers",
  ],
  [
    {
      kind: "list-differs",
      inForce: THREE,
      wish: {
        members: FOUR,
        wishers: [serverId(1)],
        lacking: [serverId(2), serverId(3)],
        unheard: [serverId(2), serverId(3)],
        earlier: [],
      },
    },
    "the list in force is 1, 2, 3; server 1 has 1, 2, 3 and observers 4 in the file; servers 2, 3 do not follow: it changes once a quorum of both lists has the new one",
  ],
  [{ kind: "learner-follows", sid }, "server 3 follows"],
  [{ kind: "whole-state-sent", sid, zxid }, "server 3 is sent a snapshot at 0x200000005"],
  [
    { kind: "leader-unreachable", sid },
    "no connection to the elected leader, server 3. Compare the quorum port in line server.3 here with the one that server 3 listens on",
  ],
  [
    { kind: "leader-unreachable", sid, detail: "ECONNREFUSED" },
    "no connection to the elected leader, server 3: ECONNREFUSED. Compare the quorum port in line server.3 here with the one that server 3 listens on",
  ],
  [
    { kind: "illegal-message", sid, fault: { kind: "acceptance-not-offered", epoch: 2, through: zxid } },
    "server 3 broke the protocol: it accepted epoch 2 through 0x200000005, which it was not offered",
  ],
  [
    { kind: "illegal-message", sid, fault: { kind: "out-of-turn", message: "sync-begin", step: "level" } },
    "server 3 broke the protocol: it sent sync-begin out of turn (level)",
  ],
  [{ kind: "epoch-promised", offered: 4, promised: 7, to: 1 }, "epoch 7 is promised to server 1, not 4"],
  [
    { kind: "learner-not-counted", sid },
    "server 3 follows and is not counted: its data directory is empty, has lost data, or has another history than this one. It counts once a quorum of other voters has synchronized it",
  ],
  [
    { kind: "learner-not-counted", sid, isOldDisk: true },
    "server 3 follows and is not counted: its disk is not the one by which the ensemble counts it: an older one, or one whose file disk-id was lost. What it acknowledged may be missing on this one. It counts once a quorum of other voters has synchronized it",
  ],
  [
    { kind: "old-disk" },
    'the ensemble counts this server by another disk than the one that it has: an older one, as where a volume was not mounted, or one whose file disk-id was lost. This server does not vote until a quorum of other voters has synchronized it. See "An old disk" in docs/disaster.md',
  ],
  [
    { kind: "history-not-the-leaders", sid, text: "histories differ" },
    'the history of server 3, which leads, and this server\'s are not the same: histories differ. See "Histories that differ" in docs/disaster.md',
  ],
  [{ kind: "histories-differ", at: zxid }, "histories differ at or before 0x200000005"],
  [{ kind: "state-restored", zxid }, "a quorum has the restored state, which stands at 0x200000005"],
  [{ kind: "restore-given-up", detail: "no room" }, "the restore is given up, and nothing has changed: no room"],
  [
    { kind: "wall-clock-set", byMs: -3000, pauseMs: 600_000 },
    "the wall clock was set by -3000 ms, so no container or TTL node is removed for 10 minutes",
  ],
  [
    { kind: "over-quota", excess: { ...QUOTA, isHard: false }, moreCount: 0 },
    "the quota of /a is 1 bytes; a write that makes it 2 is allowed",
  ],
  [
    { kind: "over-quota", excess: { ...QUOTA, isHard: true }, moreCount: 4 },
    "the quota of /a is 1 bytes; a write that makes it 2 is refused (and 4 more since the last such line)",
  ],
  [
    { kind: "over-quota", excess: { kind: "tree-bytes", heldBytes: 7, heldBytesMax: 9 }, moreCount: 0 },
    "the tree holds 7 bytes of at most 9; a write that adds to it is refused",
  ],
  [
    { kind: "over-quota", excess: { kind: "children-bytes", path: "/a", bytes: 9, bytesMax: 7 }, moreCount: 0 },
    "the names of the children of /a may take 7 bytes (zooid.childrenBytesMax); a create that makes them 9 is refused",
  ],
  [
    { kind: "large-listing", path: "/a", count: 9, bytes: 1_100_000 },
    "/a has 9 children, whose names take 1100000 bytes; clients with the default jute.maxbuffer (1 MiB) can list them in pages only",
  ],
] as const)("%o becomes a sentence", (event, sentence) => {
  expect(sentenceOf(event)).toBe(sentence);
});
