import { freePorts } from "@zooid/wire/testing/free-ports";
import { describe, expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  HOST,
  level,
  type MemberProcess,
  others,
  started,
  until,
} from "../testing/ensemble-processes.ts";

// Operators hand a leadership over, and drain a server, by the admin port.

eachInDirectory();

const SUPER = { authorization: "digest super:test" };

class Operators {
  readonly #ports: ReadonlyMap<number, number>;
  readonly members: readonly MemberProcess[];

  private constructor(ports: ReadonlyMap<number, number>, members: readonly MemberProcess[]) {
    this.#ports = ports;
    this.members = members;
  }

  static async of(count: number): Promise<Operators> {
    const ports = await freePorts(count);
    const bySid = new Map(ports.map((port, i) => [i + 1, port]));
    const members = await started(count, {
      settings: ["DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU="],
      own: (sid) => [`admin.serverAddress=${HOST}`, `admin.serverPort=${bySid.get(sid)}`],
    });
    return new Operators(bySid, members);
  }

  async ask(member: MemberProcess, path: string, headers: Record<string, string> = SUPER, method = "POST") {
    const response = await fetch(`http://${HOST}:${this.#ports.get(member.sid)}${path}`, { method, headers });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith("{") ? (JSON.parse(text) as object) : {} };
  }
}

describe("a leadership that is handed over", () => {
  test("goes to the named server, while clients write and lose nothing", async () => {
    const operators = await Operators.of(3);
    const { members } = operators;
    const leader = await level(members);
    const [first, second] = others(members, leader);
    if (first === undefined || second === undefined) throw new Error("there are three");
    const client = await clientOf([first]);
    await client.create("/held", "", { mode: "ephemeral" });
    const { sessionId } = client;
    expect(await operators.ask(leader, `/commands/transfer_leadership?to=${first.sid}&dryRun=true`)).toMatchObject({
      status: 200,
      body: { successor_id: first.sid, is_dry_run: true },
    });
    expect(await leader.mode()).toBe("leader");
    expect(await operators.ask(leader, `/commands/transfer_leadership?to=${first.sid}`)).toMatchObject({
      status: 200,
      body: { leader_id: first.sid, error: null },
    });
    await until("new leader", async () => ((await first.mode()) === "leader" ? true : undefined));
    await level(members);
    await client.connected();
    await client.create("/after", "");
    expect([client.sessionId, await client.exists("/held")]).toEqual([sessionId, expect.anything()]);
    // It is not stopped: it follows, and may be given the leadership back.
    expect(await leader.mode()).toBe("follower");
    const { status, body } = await operators.ask(first, "/commands/transfer_leadership");
    expect([status, body]).toMatchObject([200, { leader_id: expect.any(Number), error: null }]);
    expect(body).not.toMatchObject({ leader_id: first.sid });
    await level(members);
  });

  test("is refused with the reason where it cannot be", async () => {
    const operators = await Operators.of(3);
    const leader = await level(operators.members);
    const [follower, other] = others(operators.members, leader);
    if (follower === undefined || other === undefined) throw new Error("there are three");
    const path = "/commands/transfer_leadership";
    expect((await operators.ask(leader, path, {})).status).toBe(401);
    expect((await operators.ask(leader, path, { authorization: "digest someone:else" })).status).toBe(403);
    expect((await operators.ask(leader, path, SUPER, "GET")).status).toBe(405);
    expect(await operators.ask(follower, path)).toMatchObject({
      status: 409,
      body: { error: `this server does not lead: server ${leader.sid} does` },
    });
    for (const [to, error] of [
      ["9", "to is the number of a server of the ensemble, not 9"],
      [`${leader.sid}`, `server ${leader.sid} is this server, which leads`],
    ]) {
      expect(await operators.ask(leader, `${path}?to=${to}`)).toMatchObject({ status: 409, body: { error } });
    }
    await other.end("SIGKILL");
    await until("departure", async () => ((await leader.monitor())["synced_followers"] === "1" ? true : undefined));
    expect(await operators.ask(leader, `${path}?to=${other.sid}`)).toMatchObject({
      status: 503,
      body: { error: `server ${other.sid} does not follow now` },
    });
    expect(await leader.mode()).toBe("leader");
  });
});

describe("a drained server", () => {
  test("hands its leadership over, moves its clients elsewhere with their sessions, and takes none until that ends", async () => {
    const operators = await Operators.of(3);
    const { members } = operators;
    const leader = await level(members);
    const clients = await Promise.all(
      Array.from({ length: 12 }, () => clientOf([leader, ...others(members, leader)], { hostOrder: "given" })),
    );
    const sessions = clients.map(({ sessionId }) => sessionId);
    await clients[0]?.create("/held", "", { mode: "ephemeral" });
    const begun = await operators.ask(leader, "/commands/drain?durationMs=400");
    expect(begun).toMatchObject({ status: 200, body: { is_draining: true } });
    expect((await operators.ask(leader, "/readyz", {}, "GET")).text).toContain("the server is drained");
    await until("empty server", async () => {
      const { body } = await operators.ask(leader, "/commands/drain_status", {}, "GET");
      return "num_alive_connections" in body && body.num_alive_connections === 0 ? true : undefined;
    });
    await level(members);
    expect(await leader.mode()).toBe("follower");
    await Promise.all(clients.map((client) => client.connected()));
    expect(await clients[0]?.exists("/held")).toBeDefined();
    expect(clients.map(({ sessionId }) => sessionId)).toEqual(sessions);
    expect((await operators.ask(leader, "/commands/drain?durationMs=soon")).status).toBe(400);
    expect(await operators.ask(leader, "/commands/undrain")).toMatchObject({ body: { is_draining: false } });
    const back = await clientOf([leader]);
    await back.create("/back", "");
    expect(leader.said("info").filter((text) => text.startsWith("drain"))).toEqual([
      expect.stringMatching(/draining: \d+ connections? will be closed within/),
      "drained: no client is connected to this server",
      "draining has ended: clients may connect again",
    ]);
  });
});
