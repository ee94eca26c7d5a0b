import { type ConnectionRef, OpCode, parseMembers } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create, onPath, read } from "./testing/requests.ts";

const readData = (member: TestMember, ref: ConnectionRef, name: string): string =>
  member.ask(ref, OpCode.GET_DATA, read(name));

describe("three servers and an observer", () => {
  test("have one leader, and all serve", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    expect(ensemble.members.map(({ replica }) => [replica.isServing, replica.zab.state])).toEqual([
      [true, "following"],
      [true, "following"],
      [true, "leading"],
      [true, "observing"],
    ]);
  });

  test("have the writes of clients of any of them", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    for (const member of ensemble.members) {
      const client = member.open();
      expect(member.ask(client, OpCode.CREATE, create(`/by-${member.sid}`, "here"))).toBe(`path /by-${member.sid}`);
    }
    for (const member of ensemble.members) {
      const client = member.open();
      for (const { sid } of ensemble.members) expect(readData(member, client, `/by-${sid}`)).toBe("data here");
    }
    const digests = new Set(ensemble.members.map(({ replica }) => replica.tree.digestLow));
    expect(digests.size).toBe(1);
  });

  test("show the same configuration, whichever server leads", () => {
    const lines = [1, 2, 3, 4].map((sid) => `server.${sid}=h${sid}:1:2:${sid === 4 ? "observer" : "participant"}`);
    const ensemble = new TestEnsemble(3, { observers: 1, members: parseMembers(lines.join("\n")) });
    const shown = () => ensemble.members.map((member) => readData(member, member.open(), "/zookeeper/config"));
    const first = `data ${[...lines, "version=100000000"].join("\n")}`;
    expect(new Set(shown())).toEqual(new Set([first]));
    const { leader } = ensemble;
    ensemble.cutOff(leader);
    ensemble.advance(50 * TEST_TICK_MS);
    ensemble.rejoin(leader);
    ensemble.advance(50 * TEST_TICK_MS);
    expect(ensemble.leader).not.toBe(leader);
    expect(new Set(shown())).toEqual(new Set([first]));
  });

  test("all remove an empty container", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    const [follower] = ensemble.followers as [TestMember];
    const client = follower.open();
    const onPath = (name: string) => (writer: { text(value: string): void; int(value: number): void }) => {
      writer.text(name);
      writer.int(-1);
    };
    expect(follower.ask(client, OpCode.CREATE_CONTAINER, create("/c", "", 4))).toBe("path /c");
    follower.ask(client, OpCode.CREATE, create("/c/x"));
    follower.ask(client, OpCode.DELETE, onPath("/c/x"));
    ensemble.advance(60_000);
    for (const member of ensemble.members) expect(readData(member, member.open(), "/c")).toBe("NO_NODE");
    const digests = new Set(ensemble.members.map(({ replica }) => replica.tree.digestLow));
    expect(digests.size).toBe(1);
  });

  test("answer pipelined requests at a follower in order, also reads, syncs and refusals", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    const client = follower?.open();
    if (follower === undefined || client === undefined) throw new Error("no follower");
    follower.send(client, 1, OpCode.CREATE, create("/a", "one"));
    follower.send(client, 2, OpCode.GET_DATA, read("/a"));
    follower.send(client, 3, OpCode.CREATE, create("/a", "again"));
    follower.send(client, 4, OpCode.SYNC, onPath("/"));
    follower.send(client, 5, OpCode.CREATE, create("/b", "two"));
    follower.send(client, 6, OpCode.GET_DATA, read("/b"));
    ensemble.run();
    expect(follower.take(client)).toEqual([
      "1 path /a",
      "2 data one",
      "3 NODE_EXISTS",
      "4 path /",
      "5 path /b",
      "6 data two",
    ]);
  });

  test("refuse a follower's client by the identities that the follower has sent", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    const client = follower?.open();
    if (follower === undefined || client === undefined) throw new Error("no follower");
    const mine = [{ perms: 31, scheme: "auth", id: "" }];
    const authenticate = (writer: { int(value: number): void; text(value: string): void }): void => {
      writer.int(0);
      writer.text("digest");
      writer.text("ann:secret");
    };
    expect(follower.ask(client, OpCode.AUTH, authenticate)).toBe("ok");
    expect(follower.ask(client, OpCode.CREATE, create("/mine", "", 0, mine))).toBe("path /mine");
    expect(follower.ask(client, OpCode.CREATE, create("/mine/too"))).toBe("path /mine/too");
    const stranger = follower.open();
    expect(follower.ask(stranger, OpCode.CREATE, create("/mine/not"))).toBe("NO_AUTH");
    // No follower of this version sends that number: the leader believes none of them.
    const ann = [...follower.replica.connections()].find(({ ref }) => ref === client)?.identities ?? [];
    const more = Array.from({ length: 64 }, (_, i) => ({ scheme: "digest", id: `other${i}:hash` }));
    const identities = [...ann, ...more];
    ensemble.leader.replica.receivePeer(ensemble.linkOf(follower), { kind: "identities", client, identities });
    expect(follower.ask(client, OpCode.CREATE, create("/mine/more"))).toBe("NO_AUTH");
  });
});
