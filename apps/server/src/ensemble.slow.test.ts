import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { describe, expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  HOST,
  leaderOf,
  level,
  type MemberProcess,
  NOT_SERVING,
  others,
  started,
  textOf,
  until,
} from "./testing/ensemble-processes.ts";

// Servers as an operator starts them: each a process with a zoo.cfg of its own.

const directory = eachInDirectory();

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

  test("elect a leader, report their roles, and show each other's writes", async () => {
    const members = await started(3, { settings: ["audit.enable=true"] });
    const leader = await leaderOf(members);
    for (const member of others(members, leader)) {
      expect(await member.mode()).toBe("follower");
      expect(await member.monitor()).toMatchObject({
        server_state: "follower",
        peer_state: "following - broadcast",
        quorum_size: "3",
        zooid_leader: String(leader.sid),
      });
    }
    const { learners, ...values } = await leader.monitor();
    expect(values).toMatchObject({
      server_state: "leader",
      quorum_size: "3",
      synced_followers: "2",
      synced_observers: "0",
    });
    expect(learners).toBe("2");
    for (const member of members) {
      const client = await clientOf([member]);
      await client.create(`/of${member.sid}`, `from ${member.sid}`);
    }
    for (const member of members) {
      const client = await clientOf([member]);
      for (const { sid } of members) expect(await textOf(client, `/of${sid}`)).toBe(`from ${sid}`);
    }
    // Each server writes down what its own clients did.
    for (const member of members) {
      await member.end("SIGTERM");
      const lines = readFileSync(join(member.dataDir, "zookeeper_audit.log"), "utf8").trimEnd().split("\n");
      expect(lines.map((line) => /operation=.*$/.exec(line)?.[0])).toEqual([
        "operation=serverStart\tresult=success",
        `operation=create\tznode=/of${member.sid}\tznode_type=persistent\tresult=success`,
        "operation=serverStop\tresult=invoked",
      ]);
    }
  });

  test("transfer leadership when the leader is asked to stop, and lose no session", async () => {
    const members = await started(3);
    const leader = await leaderOf(members);
    const client = await clientOf([leader, ...others(members, leader)], { hostOrder: "given" });
    const { sessionId } = client;
    await client.create("/held", "mine", { mode: "ephemeral" });
    expect(await leader.end("SIGTERM")).toBe(0);
    const next = await leaderOf(others(members, leader));
    await until("reply", () => client.exists("/held", { sync: true }).catch(() => undefined));
    expect(client.sessionId).toBe(sessionId);
    const line = await until("the leadership transfer", () =>
      others(members, leader)
        .flatMap((member) => member.said())
        .find((line) => line.startsWith("the leader stops and names")),
    );
    expect(line).toBe(`the leader stops and names server ${next.sid} as its successor`);
  });

  test("move a session to the server that its client comes to: what comes through the one before has no effect", async () => {
    const members = await started(3);
    // A leader would cut the client off at once; a follower learns of it by the next write.
    const [first, second] = others(members, await leaderOf(members));
    if (first === undefined || second === undefined) throw new Error("there are two followers");
    const client = await clientOf([first]);
    await client.create("/held", "mine", { mode: "ephemeral" });
    const moved = await clientOf([second], { session: { id: client.sessionId, password: client.sessionPassword } });
    expect(moved.sessionId).toBe(client.sessionId);
    await expect(client.set("/held", "through the first")).rejects.toMatchObject({ code: "CONNECTION_LOSS" });
    expect(await textOf(moved, "/held")).toBe("mine");
    // It was cut off, and comes again with the session.
    await client.connected();
    await client.set("/held", "moved back");
    await expect(moved.set("/held", "through the second")).rejects.toMatchObject({ code: "CONNECTION_LOSS" });
    expect((await client.exists("/held", { sync: true }))?.ephemeralOwner).toBe(client.sessionId);
    expect(await textOf(client, "/held")).toBe("moved back");
  });
});

describe("a server whose number is 0", () => {
  test("votes, and its clients' writes are answered", async () => {
    const members = await started(3, { firstSid: 0 });
    const zero = members[0] as MemberProcess;
    expect(await zero.mode()).toBe("follower");
    const client = await clientOf([zero]);
    for (let i = 0; i < 5; i++) await client.create(`/n${i}`, "x", { mode: "ephemeral" });
    const leader = await leaderOf(members);
    await leader.end("SIGKILL");
    await level(others(members, leader));
    await client.create("/behind", "y");
    expect(await textOf(await clientOf(others(members, leader)), "/behind")).toBe("y");
  });

  test("leads, and a proposal without a client answers none", async () => {
    const settings = ["standaloneEnabled=false"];
    const [zero, observer] = await started(2, { firstSid: 0, observers: [1], settings });
    if (zero === undefined || observer === undefined) throw new Error("there are two");
    expect([await zero.mode(), await observer.mode()]).toEqual(["leader", "observer"]);
    const [own, other] = [await clientOf([zero]), await clientOf([observer])];
    // The end of a session is a transaction without a client that waits for it.
    for (const client of [own, other]) await client.create(`/of${client === own}`, "x", { mode: "ephemeral" });
    await other.close();
    await own.create("/behind", "y");
    expect(await textOf(await clientOf([observer]), "/behind")).toBe("y");
    await zero.end("SIGTERM");
    zero.start();
    await level([zero, observer]);
    expect(await textOf(await clientOf([observer]), "/behind")).toBe("y");
  });
});

test("five servers and two observers: observers serve, and do not count", async () => {
  const members = await started(7, { observers: [6, 7] });
  const leader = await leaderOf(members);
  const [sixth, seventh] = members.slice(5);
  if (sixth === undefined || seventh === undefined) throw new Error("there are seven");
  expect(await leader.monitor()).toMatchObject({ quorum_size: "5", synced_followers: "4", synced_observers: "2" });
  expect([await sixth.mode(), await seventh.mode()]).toEqual(["observer", "observer"]);
  const client = await clientOf([sixth]);
  await client.create("/through", "an observer");
  const reader = await clientOf([seventh]);
  expect(await textOf(reader, "/through")).toBe("an observer");
  // Two followers less leave a quorum of three, with or without observers.
  const followers = others(members.slice(0, 5), leader);
  for (const member of [...followers.slice(0, 2), seventh]) await member.end("SIGKILL");
  await client.set("/through", "three of five");
  await followers[2]?.end("SIGKILL");
  // Four are alive of seven, and two of them have a vote.
  await until("end of service", async () => ((await sixth.word("srvr")) === NOT_SERVING ? true : undefined));
});

// Addresses like 127.0.0.2 are there without being set up on Linux only.
test.runIf(process.platform === "linux")(
  "observers by followers: the leader knows them, and their sessions outlive the follower between",
  async () => {
    const members = await ensemble(5, { observers: [4, 5], hasMasters: true });
    // Followers that have their leader already are there for each observer's first way.
    for (const [some, all] of [
      [members.slice(0, 3), members.slice(0, 3)],
      [members.slice(3), members],
    ] as const) {
      for (const member of some) member.start();
      await level(all);
    }
    const leader = await leaderOf(members);
    const [fourth, fifth] = members.slice(3);
    if (fourth === undefined || fifth === undefined) throw new Error("there are five");
    expect(await leader.monitor()).toMatchObject({ synced_followers: "2", synced_observers: "2" });
    const followers = others(members.slice(0, 3), leader);
    for (const follower of followers) expect(await follower.monitor()).toMatchObject({ synced_observers: "1" });
    const client = await clientOf([fourth]);
    const reader = await clientOf([fifth]);
    await client.create("/held", "by a session of an observer", { mode: "ephemeral" });
    for (const [i, follower] of followers.entries()) {
      await follower.end("SIGKILL");
      // Its way is by the other follower now, or straight to the leader; what was under way is lost
      // with the one before.
      await until("write by another way", () =>
        client.set("/held", `without ${i + 1}`).then(
          () => true,
          () => undefined,
        ),
      );
      expect(await textOf(reader, "/held")).toBe(`without ${i + 1}`);
      follower.start();
      await level(members);
    }
    expect((await reader.exists("/held", { sync: true }))?.ephemeralOwner).toBe(client.sessionId);
  },
);

describe("a server alone among three", () => {
  test("does not serve: words say so, and clients are closed", async () => {
    const [member] = await ensemble(3);
    if (member === undefined) throw new Error("there is one");
    member.start();
    await until("answer", async () => ((await member.word("ruok")) === "imok" ? true : undefined));
    expect(await member.word("srvr")).toBe(NOT_SERVING);
    expect(await member.word("mntr")).toBe(NOT_SERVING);
    await expect(connect(`${HOST}:${member.port}`, { startTimeoutMs: 500 })).rejects.toThrow();
    const socket = connectSocket({ port: member.port, host: HOST });
    // A connect request of a client without a session.
    socket.write(
      Buffer.concat([
        Buffer.of(0, 0, 0, 45),
        Buffer.alloc(12),
        Buffer.of(0, 0, 39, 16),
        Buffer.alloc(8),
        Buffer.of(0, 0, 0, 16),
        Buffer.alloc(17),
      ]),
    );
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    await once(socket, "close");
    expect(answer).toBe("");
  });

  test("serves reads to those who ask for it, where that is allowed", async () => {
    const members = await started(3, { settings: ["readonlymode.enabled=true"] });
    const [member] = members;
    if (member === undefined) throw new Error("there is one");
    const writer = await clientOf([member]);
    await writer.create("/kept", "before");
    await writer.close();
    for (const one of others(members, member)) await one.end("SIGKILL");
    await until("read-only mode", async () => ((await member.mode()) === "read-only" ? true : undefined));
    expect(await member.word("isro")).toBe("ro");
    const client = await clientOf([member], { readOnly: "allow" });
    expect(client.state.kind).toBe("read-only");
    expect(String(Buffer.from((await client.get("/kept")).data ?? []))).toBe("before");
    await expect(client.create("/no")).rejects.toMatchObject({ code: "NOT_READ_ONLY" });
    for (const one of others(members, member)) one.start();
    await level(members);
    await until("write", () => client.create("/yes").catch(() => undefined));
    expect(client.state.kind).toBe("connected");
  });
});

test("a local session is known to its server alone, until it makes an ephemeral node", async () => {
  const members = await started(3, { settings: ["localSessionsEnabled=true", "localSessionsUpgradingEnabled=true"] });
  const leader = await leaderOf(members);
  const [member, another] = others(members, leader);
  if (member === undefined || another === undefined) throw new Error("there are followers");
  const client = await clientOf([member]);
  expect(await member.monitor()).toMatchObject({ local_sessions: "1", global_sessions: "0" });
  await client.create("/plain");
  expect(await leader.monitor()).toMatchObject({ global_sessions: "0" });
  await client.create("/held", "mine", { mode: "ephemeral" });
  // The followers may commit it before the leader's own disk has it.
  await expect.poll(() => leader.monitor()).toMatchObject({ global_sessions: "1", ephemerals_count: "1" });
  expect(await member.monitor()).toMatchObject({ local_sessions: "0" });
  const moved = await clientOf([another], { session: { id: client.sessionId, password: client.sessionPassword } });
  expect(moved.sessionId).toBe(client.sessionId);
  await moved.close();
  const reader = await clientOf([leader]);
  expect(await reader.exists("/held", { sync: true })).toBeNull();
});

describe("a shared secret", () => {
  test("lets in those who have it, and refuses the others in one clear line", async () => {
    for (const [name, bytes] of [
      ["right", 1],
      ["wrong", 2],
    ] as const) {
      writeFileSync(join(directory(), name), `k1:${Buffer.alloc(32, bytes).toString("base64")}\n`, { mode: 0o600 });
    }
    const members = await ensemble(3, {
      own: (sid) => [`zooid.peerSecretFile=${join(directory(), sid === 3 ? "wrong" : "right")}`],
    });
    const [first, second, stranger] = members;
    if (first === undefined || second === undefined || stranger === undefined) throw new Error("there are three");
    for (const member of members) member.start();
    // It may have the data of the ensemble, as far as the two can know.
    await until("warning", () =>
      first.said("warn").some((line) => /founds no ensemble, since server 3/.test(line)) ? true : undefined,
    );
    expect(await first.word("srvr")).toBe(NOT_SERVING);
    await stranger.end("SIGTERM");
    await level([first, second]);
    stranger.start();
    const refused = /server [12] .*the proof of the shared secret is wrong/;
    await until("refusal", () => stranger.said("warn").find((line) => refused.test(line)));
    await until("answer", async () => ((await stranger.word("srvr")) === NOT_SERVING ? true : undefined));
    const leader = await leaderOf([first, second]);
    expect(await leader.monitor()).toMatchObject({ learners: "1", synced_followers: "1" });
    for (const member of members)
      expect(member.output).not.toContain(Buffer.alloc(32, 1).toString("base64").slice(0, 20));
  });
});
