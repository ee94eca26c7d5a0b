import { OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create, multi, read, setData, versioned } from "./testing/requests.ts";

describe("where no disk has room", () => {
  const full = (): { ensemble: TestEnsemble; leader: TestMember; follower: TestMember } => {
    const ensemble = new TestEnsemble(3);
    const { leader } = ensemble;
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const client = leader.open();
    for (const path of ["/a", "/b", "/c"]) leader.ask(client, OpCode.CREATE, create(path, "x"));
    for (const member of [...ensemble.followers, leader]) member.replica.setRoom("low");
    ensemble.run();
    return { ensemble, leader, follower };
  };

  test.each(["leader", "follower"] as const)("a client of a %s is refused additions, and nothing else", (role) => {
    const { ensemble, [role]: member } = full();
    const client = member.open();
    const before = ensemble.leader.replica.zab.lastProposed;
    expect(member.ask(client, OpCode.CREATE, create("/d"))).toBe("OPERATION_TIMEOUT");
    expect(member.ask(client, OpCode.SET_DATA, setData("/a", "y"))).toBe("OPERATION_TIMEOUT");
    const mixed = multi([OpCode.DELETE, versioned("/b")], [OpCode.CREATE, create("/d")]);
    expect(member.ask(client, OpCode.MULTI, mixed)).toBe("OPERATION_TIMEOUT");
    expect(ensemble.leader.replica.zab.lastProposed).toBe(before);
    expect(member.replica.counters.refusedForRoom).toBe(3);
    expect(member.ask(client, OpCode.EXISTS, read("/a"))).toBe("stat");
    expect(member.ask(client, OpCode.DELETE, versioned("/a"))).toBe("ok");
    expect(member.ask(client, OpCode.MULTI, multi([OpCode.DELETE, versioned("/b")]))).not.toBe("OPERATION_TIMEOUT");
    expect(member.ask(client, OpCode.CLOSE_SESSION)).toBe("ok; close");
  });

  test("a refused addition is answered behind the writes before it", () => {
    const { ensemble, follower } = full();
    const client = follower.open();
    follower.send(client, 1, OpCode.DELETE, versioned("/a"));
    follower.send(client, 2, OpCode.CREATE, create("/d"));
    follower.send(client, 3, OpCode.DELETE, versioned("/b"));
    ensemble.run();
    expect(follower.take(client)).toEqual(["1 ok", "2 OPERATION_TIMEOUT", "3 ok"]);
  });

  test("an addition is carried out once there is room", () => {
    const { ensemble, leader, follower } = full();
    for (const member of [leader, ...ensemble.followers]) member.replica.setRoom("enough");
    ensemble.run();
    expect(follower.ask(follower.open(), OpCode.CREATE, create("/d"))).toBe("path /d");
  });
});

test("a leader without room leaves when another server has had room for a second", () => {
  const ensemble = new TestEnsemble(3);
  const { leader } = ensemble;
  leader.replica.setRoom("low");
  ensemble.run();
  expect(leader.replica.isLeading).toBe(true);
  ensemble.advance(TEST_TICK_MS);
  expect(leader.replica.isLeading).toBe(true);
  ensemble.advance(1000 + TEST_TICK_MS);
  expect(ensemble.leader).not.toBe(leader);
});

test("a leader leaves a full disk that holds back what the others have committed", () => {
  const ensemble = new TestEnsemble(3);
  const { leader } = ensemble;
  const client = leader.open();
  leader.fillDisk();
  expect(leader.ask(client, OpCode.CREATE, create("/a"))).toBe("");
  leader.replica.setRoom("full");
  ensemble.run();
  ensemble.advance(1000 + 2 * TEST_TICK_MS);
  const next = ensemble.leader;
  expect(next).not.toBe(leader);
  expect(next.ask(next.open(), OpCode.EXISTS, read("/a"))).toBe("stat");
});

test("one server with little room on its disk is no quorum: nothing is refused", () => {
  const ensemble = new TestEnsemble(3);
  const [follower] = ensemble.followers;
  follower?.replica.setRoom("low");
  ensemble.run();
  expect(ensemble.leader.ask(ensemble.leader.open(), OpCode.CREATE, create("/a"))).toBe("path /a");
});

test("a session that a follower heard from just before the room on its disk changed lives its full timeout", () => {
  const ensemble = new TestEnsemble(3);
  const [follower] = ensemble.followers;
  if (follower === undefined) throw new Error("no follower");
  const client = follower.open({ timeoutMs: 3 * TEST_TICK_MS });
  ensemble.advance(2.5 * TEST_TICK_MS);
  follower.ask(client, OpCode.PING);
  ensemble.advance(TEST_TICK_MS / 10);
  follower.replica.setRoom("low");
  ensemble.advance(2 * TEST_TICK_MS);
  expect(follower.ask(client, OpCode.EXISTS, read("/"))).toBe("stat");
  ensemble.advance(5 * TEST_TICK_MS);
  expect(follower.take(client)).toEqual(["close"]);
});
