import { OpCode, SESSION_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble } from "../testing/ensemble.ts";
import { create, read } from "../testing/requests.ts";

const EPHEMERAL = 1;

describe("a session", () => {
  test("is renewed at another server, and requests of its old connection are not carried out", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    const before = first.open();
    const { session, password } = first;
    expect(first.ask(before, OpCode.CREATE, create("/eph", "", EPHEMERAL))).toBe("path /eph");
    const after = second.connect({ session, password });
    expect(second.take(after)).toEqual(["connected 10000"]);
    expect(first.ask(before, OpCode.CREATE, create("/late"))).toBe("close");
    expect(second.ask(after, OpCode.EXISTS, read("/late"))).toBe("NO_NODE");
    expect(second.ask(after, OpCode.EXISTS, read("/eph"))).toBe("stat");
  });

  test("is served again by a server whose forwarded close was refused while the session was elsewhere", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    const before = first.open();
    const { session, password } = first;
    second.take(second.connect({ session, password }));
    // Its connection from before asks for its end, and the leader refuses: the session is not that
    // server's any more.
    expect(first.ask(before, OpCode.CLOSE_SESSION)).toBe("close");
    const again = first.connect({ session, password });
    expect(first.take(again)).toEqual(["connected 10000"]);
    expect(first.ask(again, OpCode.EXISTS, read("/"))).toBe("stat");
    expect(first.ask(again, OpCode.CREATE, create("/a"))).toBe("path /a");
  });

  test("has one connection at a server: no request of the earlier one follows the revalidation", () => {
    const ensemble = new TestEnsemble(3);
    const { leader } = ensemble;
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const before = follower.open();
    const { session, password } = follower;
    const release = ensemble.holdBack(follower);
    follower.connect({ session, password });
    follower.send(before, 1, OpCode.CREATE, create("/late"));
    ensemble.run();
    const moved = leader.connect({ session, password });
    leader.take(moved);
    expect(leader.ask(moved, OpCode.CREATE, create("/a"))).toBe("path /a");
    release();
    expect(follower.take(before)).toEqual(["close"]);
    expect(leader.ask(leader.open(), OpCode.EXISTS, read("/late"))).toBe("NO_NODE");
  });

  test.each(["created", "renewed"])(
    "that was %s at a server keeps its connection there when a stranger claims it",
    (how) => {
      const ensemble = new TestEnsemble(3);
      const [first, follower] = ensemble.followers;
      if (first === undefined || follower === undefined) throw new Error("two followers");
      let client = follower.open();
      if (how === "renewed") {
        first.open();
        const { session, password } = first;
        client = follower.connect({ session, password });
        follower.take(client);
      }
      const { session } = follower;
      const stranger = follower.connect({ session, password: new Uint8Array(16).fill(9) });
      expect(follower.take(stranger)).toEqual(["expired", "close"]);
      expect(follower.ask(client, OpCode.CREATE, create("/a"))).toBe("path /a");
    },
  );

  test("is not renewed with a wrong password", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    first.open();
    const thief = second.connect({ session: first.session, password: new Uint8Array(16).fill(9) });
    expect(second.take(thief)).toEqual(["expired", "close"]);
    const owner = second.connect({ session: first.session, password: first.password });
    expect(second.take(owner)).toEqual(["connected 10000"]);
  });

  test("lives while a follower hears from its client; its ephemerals go when it expires", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const client = follower.open({ timeoutMs: 1000 });
    follower.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    for (let i = 0; i < 10; i++) {
      ensemble.advance(500);
      expect(follower.ask(client, OpCode.EXISTS, read("/eph"))).toBe("stat");
    }
    follower.disconnect(client);
    ensemble.advance(900);
    const other = ensemble.leader.open();
    expect(ensemble.leader.ask(other, OpCode.EXISTS, read("/eph"))).toBe("stat");
    ensemble.advance(300 + 2 * TEST_TICK_MS);
    expect(ensemble.leader.ask(other, OpCode.EXISTS, read("/eph"))).toBe("NO_NODE");
  });

  test("survives its leader", () => {
    const ensemble = new TestEnsemble(3);
    const { leader } = ensemble;
    const client = leader.open();
    const { session, password } = leader;
    leader.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    ensemble.cutOff(leader);
    ensemble.advance(2000);
    expect(ensemble.leader).not.toBe(leader);
    const again = ensemble.leader.connect({ session, password });
    expect(ensemble.leader.take(again)).toEqual(["connected 10000"]);
    expect(ensemble.leader.ask(again, OpCode.EXISTS, read("/eph"))).toBe("stat");
  });
});

test("a session that no server knows is not renewed", () => {
  const ensemble = new TestEnsemble(3);
  for (const member of ensemble.members) {
    const client = member.connect({ session: (SESSION_NONE + 77n) as typeof SESSION_NONE });
    expect(member.take(client)).toEqual(["expired", "close"]);
  }
});
