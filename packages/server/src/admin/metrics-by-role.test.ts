import { OpCode } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ZooidServer } from "../server-api.ts";
import { ask } from "../testing/http.ts";
import { allServe, PATIENT } from "../testing/patient.ts";
import { startTestServer } from "../testing/server.ts";

// A leader, a follower and an observer.

type Role = "leader" | "follower" | "observer";

const HOST = "127.0.0.1";
const sids = new Map<Role, number>();
const samples = new Map<Role, ReadonlyMap<string, number>>();
const types = new Map<string, string>();
const observers = new Map<Role, unknown>();
const servers: ZooidServer[] = [];

async function samplesOf(server: ZooidServer): Promise<ReadonlyMap<string, number>> {
  const { body } = await ask(server.adminPort, "/metrics");
  for (const [, name = "", type = ""] of body.matchAll(/^# TYPE (\S+) (\S+)$/gm)) types.set(name, type);
  return new Map([...body.matchAll(/^(\S+) (\S+)$/gm)].map(([, name = "", value]) => [name, Number(value)]));
}

beforeAll(async () => {
  const ports = await freePorts(6);
  const places = [1, 2, 3].map((sid, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
    return { sid, host: HOST, quorumPort, electionPort, isObserver: sid === 3 };
  });
  for (const { sid } of places) {
    const ensemble = { sid, servers: places, ...PATIENT };
    servers.push(await startTestServer({ tickMs: 200, admin: { port: 0 }, ensemble }));
  }
  await allServe(servers);
  const [first] = servers;
  await using client = await RawClient.withSession(first?.port ?? 0);
  for (const path of ["/a", "/b", "/c"]) await client.ask(OpCode.CREATE, create(path, "x"));
  for (const [i, server] of servers.entries()) {
    const { body } = await ask(server.adminPort, "/commands/leader");
    const { is_leader } = JSON.parse(body);
    const role = is_leader === true ? "leader" : i === 2 ? "observer" : "follower";
    sids.set(role, i + 1);
  }
  const leader = servers[(sids.get("leader") ?? 1) - 1] as ZooidServer;
  await vi.waitFor(async () => {
    const found = await samplesOf(leader);
    const lags = [...found].filter(([name]) => /^zooid_learner_un(?:acked|applied)\{/.test(name));
    expect([found.get("synced_observers"), lags.map(([, lag]) => lag)]).toEqual([1, [0, 0, 0, 0]]);
  }, 5000);
  for (const [role, sid] of sids) {
    const server = servers[sid - 1] as ZooidServer;
    samples.set(role, await samplesOf(server));
    observers.set(role, JSON.parse((await ask(server.adminPort, "/commands/observers")).body));
  }
}, 20_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

const some = expect.toSatisfy((value: number) => value > 0);

describe("each server reports what its role has:", () => {
  test.each<readonly [name: string, leader: unknown, follower: unknown, observer: unknown]>([
    ["quorum_size", 2, 2, 2],
    ["learners", 2, undefined, undefined],
    ["followers", 2, undefined, undefined],
    ["synced_followers", 1, undefined, undefined],
    ["synced_non_voting_followers", 0, undefined, undefined],
    ["synced_observers", 1, undefined, undefined],
    ["pending_syncs", 0, undefined, undefined],
    ["leader_uptime", some, undefined, undefined],
    ["last_proposal_size", some, undefined, undefined],
    ["commit_count", some, 0, 0],
    ["proposal_count", some, 0, 0],
    ["learner_commit_received_count", 0, some, some],
    ["learner_proposal_received_count", 0, some, 0],
    ["zooid_unlisted", 0, 0, 0],
    ["zooid_ports_not_moved", 0, 0, 0],
    ['zooid_learner_unacked{key="3"}', 0, undefined, undefined],
    ['zooid_learner_unapplied{key="3"}', 0, undefined, undefined],
  ])("%s", (name, ...expected) => {
    const roles: readonly Role[] = ["leader", "follower", "observer"];
    expect(roles.map((role) => samples.get(role)?.get(name))).toEqual(expected);
  });

  test("the leader's number, and where the log and the tree are", () => {
    const leader = sids.get("leader");
    for (const [role, found] of samples) {
      expect([role, found.get("zooid_leader"), found.get("zooid_epoch")]).toEqual([role, leader, some]);
      expect([role, found.get("zooid_applied")]).toEqual([role, found.get("zooid_committed")]);
    }
    expect(new Set([...samples.values()].map((found) => found.get("zooid_applied"))).size).toBe(1);
  });

  test("under names that Prometheus' rules allow, where Apache has none", () => {
    const own = [...types].filter(([name]) => name.startsWith("zooid_"));
    expect(own.length).toBeGreaterThan(20);
    const isWrong = (name: string, type: string): boolean =>
      (type === "counter") !== name.endsWith("_total") || /_(?:ms|us|ns|secs?|kb|mb|gb|[kmg]ib|count|sum)$/.test(name);
    expect(own.filter((each) => isWrong(...each))).toEqual([]);
  });

  test("the observers that it knows", () => {
    expect(observers.get("leader")).toMatchObject({ synced_observers: 1, observers: [{ sid: 3, last_zxid: some }] });
    for (const role of ["follower", "observer"] as const) {
      expect(observers.get(role)).toMatchObject({ synced_observers: 0, observers: [] });
    }
  });
});
