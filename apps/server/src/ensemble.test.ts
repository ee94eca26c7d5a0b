import { describe, expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  leaderOf,
  level,
  others,
  started,
  until,
} from "./testing/ensemble-processes.ts";

// Servers as an operator starts them: each a process with a zoo.cfg of its own. More of them are in
// `ensemble.slow.test.ts`.

eachInDirectory();

describe("three servers", () => {
  test("continue after kill -9 of the leader: nothing acknowledged is lost, and sessions live on", async () => {
    const members = await started(3);
    const leader = await leaderOf(members);
    // At the leader itself, and at a follower.
    const client = await clientOf([leader, ...others(members, leader)], { hostOrder: "given" });
    const other = await clientOf(others(members, leader));
    const { sessionId } = client;
    await client.create("/held", "mine", { mode: "ephemeral" });
    await Promise.all(Array.from({ length: 200 }, (_, index) => client.create(`/before${index}`)));
    await leader.end("SIGKILL");
    const next = await leaderOf(others(members, leader));
    expect(next).not.toBe(leader);
    await client.connected();
    await until("write", async () => (await client.exists("/after")) ?? client.create("/after").catch(() => undefined));
    expect(client.sessionId).toBe(sessionId);
    const names = (await other.children("/", { sync: true })).names;
    expect(names).toEqual(
      expect.arrayContaining([...Array.from({ length: 200 }, (_, i) => `before${i}`), "held", "after"]),
    );
    leader.start();
    await level(members);
    expect(await leader.mode()).toBe("follower");
    const back = await clientOf([leader]);
    expect((await back.children("/", { sync: true })).names.sort()).toEqual(names.sort());
  });
});

describe("a shared secret", () => {
  test("is asked for where another server is not on this machine", async () => {
    const [member] = await ensemble(1, {
      settings: ["server.2=192.0.2.2:2888:3888", "server.3=192.0.2.3:2888:3888"],
    });
    if (member === undefined) throw new Error("there is one");
    member.start();
    expect(await member.ended()).toBe(2);
    expect(member.output).toMatch(/^\{[^\n]*"event":"start-failed"[^\n]*zooid\.peerSecretFile[^\n]*\n$/m);
  });
});
