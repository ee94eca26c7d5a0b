import { describe, expect, test } from "vitest";
import { leader, packet, SERVERS, snapshot, write, zxidAt } from "../testing/leader-packets.ts";
import { Observed, position } from "../testing/observed.ts";
import { ApachePeerError } from "./peer-error.ts";
import { TOUCHES_PER_PING } from "./pending-touches.ts";
import { PacketType } from "./quorum-packet.ts";

const DIFF = [leader.info(5), leader.diff(zxidAt(5, 3))];
const ESTABLISHED = [...DIFF, leader.newLeader(5), leader.upToDate()];
const AT_3 = { acceptedEpoch: 5, currentEpoch: 5, position: position(5, 3) };

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ApachePeerError) return error.code;
    throw error;
  }
  return "nothing";
}

test("proposals without a commit have 64 MiB, and the byte beyond ends the link", () => {
  const mib = 1024 * 1024;
  const observed = new Observed(AT_3, { packetBytesMax: mib }).take(DIFF);
  const data = Buffer.alloc(mib);
  for (let i = 0; i < 64; i++) observed.take([packet(PacketType.PROPOSAL, zxidAt(5, 4 + i), data)]);
  expect(codeOf(() => observed.take([packet(PacketType.PROPOSAL, zxidAt(5, 68), Buffer.alloc(1))]))).toBe(
    "UNEXPECTED_PACKET",
  );
});

describe("a learner that has nothing", () => {
  test("promises the epoch durably, asks for a snapshot, and acknowledges NEWLEADER and UPTODATE", () => {
    const observed = new Observed().take([
      leader.info(5),
      leader.snap(zxidAt(5, 2)),
      snapshot(),
      leader.newLeader(5),
      leader.inform(zxidAt(5, 3)),
      leader.upToDate(),
    ]);
    expect(observed.lines).toEqual([
      "send OBSERVERINFO 0x0",
      "keep 5 0",
      "leader of epoch 5",
      "send ACKEPOCH -1",
      "snapshot 0x500000002",
      "snapshot ends 0x500000002",
      "keep 5 5",
      "send ACK 0x500000000",
      "transaction 0x500000003",
      "send ACK 0x500000000",
      "up to date 5",
    ]);
    expect(Buffer.concat(observed.snapshot)).toEqual(snapshot());
    expect(observed.observer.memory).toEqual({ acceptedEpoch: 5, currentEpoch: 5, position: position(5, 3) });
  });

  test("says what Apache's servers understand, byte by byte", () => {
    const observed = new Observed();
    const [first] = observed.sent.packets;
    expect(first).toMatchObject({ name: "OBSERVERINFO", zxid: 0n });
    expect(first?.data?.toString("hex")).toBe("0000000000000064000100000000000000000000");
  });

  test("is not given a DIFF: a fresh leader's would begin with a tree that is not there", () => {
    expect(codeOf(() => new Observed().take(DIFF))).toBe("UNEXPECTED_PACKET");
  });
});

describe("a learner that continues", () => {
  test("names its last transaction, and gets what follows as proposals and commits, then as informs", () => {
    const observed = new Observed(AT_3).take([
      leader.info(6),
      leader.diff(zxidAt(6, 1)),
      leader.proposal(zxidAt(5, 4)),
      leader.commit(zxidAt(5, 4)),
      leader.inform(zxidAt(6, 1)),
      leader.newLeader(6),
      leader.upToDate(),
      leader.activate(zxidAt(6, 2)),
    ]);
    expect(observed.lines).toEqual([
      "send OBSERVERINFO 0x500000000",
      "keep 6 5",
      "leader of epoch 6",
      "send ACKEPOCH 0x500000003",
      "diff",
      "transaction 0x500000004",
      "transaction 0x600000001",
      "keep 6 6",
      "send ACK 0x600000000",
      "send ACK 0x600000000",
      "up to date 6",
      "transaction 0x600000002",
    ]);
  });

  test("of an epoch that it has accepted before names no epoch of its own", () => {
    const observed = new Observed(AT_3).take(DIFF);
    expect(observed.sent.packets[1]?.data?.readInt32BE(0)).toBe(-1);
    expect(observed.lines).not.toContain("keep 5 5");
  });

  test.each([
    ["skips one", [zxidAt(5, 5)]],
    ["comes twice", [zxidAt(5, 4), zxidAt(5, 4)]],
    ["is older", [zxidAt(5, 2)]],
    ["begins an epoch with another number than 1", [zxidAt(6, 2)]],
  ])("leaves where a transaction %s, and asks for a snapshot next", (_, zxids) => {
    const observed = new Observed(AT_3).take(DIFF);
    expect(codeOf(() => observed.take(zxids.map((zxid) => leader.inform(zxid))))).toBe("OUT_OF_ORDER");
    expect(observed.observer.memory.position).toBe(undefined);
  });

  test("leaves where a transaction has another zxid than its packet", () => {
    const bytes = packet(PacketType.INFORM, zxidAt(5, 4), write(zxidAt(5, 5)));
    expect(codeOf(() => new Observed(AT_3).take([...DIFF, bytes]))).toBe("MALFORMED");
  });

  test("learns from TRUNC that history was taken back, and asks for a snapshot next", () => {
    const observed = new Observed(AT_3);
    expect(codeOf(() => observed.take([leader.info(6), leader.trunc(zxidAt(5, 2))]))).toBe("HISTORY_TAKEN_BACK");
    expect(observed.observer.memory.position).toBe(undefined);
  });

  test("leaves a leader of an older epoch, and promises nothing", () => {
    const observed = new Observed({ ...AT_3, acceptedEpoch: 7 });
    expect(codeOf(() => observed.take([leader.info(6)]))).toBe("EPOCH_BACKWARDS");
    expect(observed.lines).toEqual(["send OBSERVERINFO 0x700000000"]);
  });

  test.each([
    ["above every epoch that a zxid of ours can have", leader.info(2 ** 21), "EPOCH_TOO_HIGH"],
    ["with a counter", packet(PacketType.LEADERINFO, zxidAt(5, 1), Buffer.of(0, 1, 0, 0)), "UNEXPECTED_PACKET"],
    ["of the protocol before 1.0", packet(PacketType.LEADERINFO, zxidAt(5, 0), null), "UNEXPECTED_PACKET"],
    ["below 0", packet(PacketType.LEADERINFO, -1n, Buffer.of(0, 1, 0, 0)), "MALFORMED"],
  ])("refuses a leader's epoch %s", (_, info, code) => {
    expect(codeOf(() => new Observed(AT_3).take([info]))).toBe(code);
  });
});

describe("a snapshot", () => {
  const begun = [leader.info(5), leader.snap(zxidAt(5, 9)), snapshot()];

  test("is followed by transactions that it may contain, then by newer ones", () => {
    const zxids = [zxidAt(5, 8), zxidAt(5, 9), zxidAt(5, 10)];
    const observed = new Observed().take([...begun, ...zxids.map((zxid) => leader.inform(zxid))]);
    expect(observed.lines.filter((line) => line.startsWith("transaction"))).toHaveLength(3);
  });

  test.each([
    ["behind a newer one", [zxidAt(5, 10), zxidAt(5, 9)]],
    ["twice", [zxidAt(5, 8), zxidAt(5, 8)]],
  ])("is not followed by a transaction that it contains %s", (_, zxids) => {
    const observed = new Observed().take(begun);
    expect(codeOf(() => observed.take(zxids.map((zxid) => leader.inform(zxid))))).toBe("OUT_OF_ORDER");
  });

  test("is no position before NEWLEADER: transactions that it lacks may not have come", () => {
    const observed = new Observed(AT_3).take(begun);
    expect(observed.observer.memory.position).toBe(undefined);
    observed.take([leader.newLeader(5)]);
    expect(observed.observer.memory.position).toBe(position(5, 9));
  });
});

describe("pings", () => {
  test("before UPTODATE are not answered: the answer would end the link", () => {
    const observed = new Observed(AT_3).take([...DIFF, leader.ping(1n), leader.newLeader(5), leader.ping(1n)]);
    expect(observed.sent.packets.map(({ name }) => name)).toEqual(["OBSERVERINFO", "ACKEPOCH", "ACK"]);
  });

  test("are answered with the leader's zxid and the sessions that were touched, each once", () => {
    const observed = new Observed(AT_3).take(ESTABLISHED);
    observed.touch({ id: 1n, timeoutMs: 4000 }, { id: -2n, timeoutMs: 5000 }, { id: 1n, timeoutMs: 6000 });
    observed.take([leader.ping(zxidAt(5, 7)), leader.ping(zxidAt(5, 8))]);
    expect(observed.sent.packets.slice(-2)).toEqual([
      {
        name: "PING",
        zxid: zxidAt(5, 7),
        data: Buffer.from("000000000000000100001770fffffffffffffffe00001388", "hex"),
      },
      { name: "PING", zxid: zxidAt(5, 8), data: Buffer.alloc(0) },
    ]);
  });

  test(`carry at most ${TOUCHES_PER_PING} sessions: the rest goes with the next one`, () => {
    const observed = new Observed(AT_3).take(ESTABLISHED);
    observed.touch(...Array.from({ length: TOUCHES_PER_PING + 1 }, (_, i) => ({ id: BigInt(i), timeoutMs: 1 })));
    observed.take([leader.ping(1n), leader.ping(1n)]);
    expect(observed.sent.packets.slice(-2).map(({ data }) => (data?.length ?? 0) / 12)).toEqual([TOUCHES_PER_PING, 1]);
  });
});

test("a sync is asked for when the leader serves, and its answer keeps its place", () => {
  const observed = new Observed(AT_3).take(DIFF);
  expect(observed.observer.sync()).toBe(false);
  observed.take([leader.newLeader(5), leader.upToDate()]);
  expect(observed.observer.sync()).toBe(true);
  observed.take([leader.inform(zxidAt(5, 4)), leader.synced()]);
  expect(observed.lines.slice(-3)).toEqual(["send REQUEST -1", "transaction 0x500000004", "synced"]);
});

test.each([
  ["a voter's", "server.100=a:2888:3888:participant", "SID_TOO_LOW"],
  ["below a voter's", "server.1=a:2888:3888\nserver.101=[::1]:2888:3888", "SID_TOO_LOW"],
  ["an observer's", "server.1=a:2888:3888\nserver.100=b:2888:3888:observer;2181", "nothing"],
  ["above all", SERVERS, "nothing"],
])("a server id that is %s: %s", (_, servers, code) => {
  const observed = new Observed(AT_3).take(DIFF);
  expect(codeOf(() => observed.take([leader.newLeader(5, servers)]))).toBe(code);
});

test.each([
  ["before LEADERINFO", [leader.diff(1n)]],
  ["in place of DIFF", [leader.info(5), leader.inform(1n)]],
  ["of another epoch", [...DIFF, leader.newLeader(6)]],
  ["that commits what was not proposed", [...DIFF, leader.commit(zxidAt(5, 4))]],
  ["that ends the synchronization before a commit", [...DIFF, leader.proposal(zxidAt(5, 4)), leader.newLeader(5)]],
  ["that proposes to a learner in step", [...ESTABLISHED, leader.proposal(zxidAt(5, 4))]],
  ["UPTODATE twice", [...ESTABLISHED, leader.upToDate()]],
])("a packet %s ends the link", (_, packets) => {
  expect(codeOf(() => new Observed(AT_3).take(packets))).toBe("UNEXPECTED_PACKET");
});

test("a leader of a version before 3.5 is left for good: its NEWLEADER names no servers", () => {
  const newLeader = packet(PacketType.NEWLEADER, zxidAt(5, 0), null);
  expect(codeOf(() => new Observed(AT_3).take([...DIFF, newLeader]))).toBe("VERSION_TOO_OLD");
});

test("a silent leader is left: after initTimeoutMs while it synchronizes, then after syncTimeoutMs", () => {
  const observed = new Observed(AT_3).take(DIFF);
  expect(codeOf(() => observed.observer.tick(40_000))).toBe("nothing");
  expect(codeOf(() => observed.observer.tick(40_001))).toBe("SILENT");
  observed.nowMs = 1000;
  observed.take([leader.newLeader(5), leader.upToDate()]);
  expect(codeOf(() => observed.observer.tick(11_000))).toBe("nothing");
  expect(codeOf(() => observed.observer.tick(11_001))).toBe("SILENT");
});
