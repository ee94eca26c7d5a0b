import type { Client, EnsembleServer } from "@zooid/client";
import { expect, test } from "vitest";
import type { MemberJson } from "../api/shapes.ts";
import { startStage } from "../testing/stage.ts";
import { EnsembleFacts, type FourLetterWords } from "./ensemble-facts.ts";
import { ensembleProblems } from "./ensemble-problems.ts";
import { MetricHistory } from "./metric-history.ts";

function member(sid: number, more: Partial<MemberJson> = {}): MemberJson {
  return {
    sid,
    address: `zk${sid}:2181`,
    role: sid === 1 ? "leader" : "follower",
    isVoter: true,
    isReachable: true,
    reason: null,
    version: "3.9.5",
    zxid: "0x100000005",
    epoch: 1,
    lagZxids: 0,
    connections: 1,
    outstanding: 0,
    nodeCount: 5,
    latencyMs: { min: 0, average: 1, max: 9 },
    received: 10,
    sent: 10,
    storage: null,
    ...more,
  } as MemberJson;
}
const down = { isReachable: false, role: "unknown", reason: "no connection" } as const;

test("a server shows its figures and its clients", async () => {
  await using stage = await startStage();
  await stage.zk.create("/e", "", { mode: "ephemeral" });
  const { json } = await stage.api("GET", "/ensemble");
  expect(json).toMatchObject({
    problems: [],
    members: [{ role: "standalone", isReachable: true, address: stage.server.connectString }],
  });
  const found = await stage.api("GET", "/sessions");
  const own = found.json.sessions.find(({ ephemerals }: { ephemerals: string[] }) => ephemerals.includes("/e"));
  expect(BigInt(own.id)).toBe(BigInt.asUintN(64, stage.zk.sessionId));
});

test("figures for the charts need no session", async () => {
  await using stage = await startStage();
  const facts = new EnsembleFacts({ name: "", hosts: stage.server.connectString });
  expect(await facts.sample()).toMatchObject([{ role: "standalone", isReachable: true }]);
  expect(stage.server.summary.sessionCount).toBe(1);
});

test.each<readonly [what: string, servers: readonly Partial<EnsembleServer>[], addresses: readonly string[]]>([
  [
    "with client addresses",
    [
      { host: "a", clientAddress: { host: "a", port: 2181 } },
      { host: "b", clientAddress: { host: "10.0.0.2", port: 2182 } },
    ],
    ["a:2181", "10.0.0.2:2182"],
  ],
  ["without, on machines of their own", [{ host: "a" }, { host: "b" }], ["a:9181", "b:9181"]],
  ["without, on one machine", [{ host: "a" }, { host: "a" }], ["a", "a"]],
  ["without, two of three on one machine", [{ host: "a" }, { host: "b" }, { host: "a" }], ["a", "b:9181", "a"]],
  ["one without", [{ host: "a", clientAddress: { host: "a", port: 2181 } }, { host: "b" }], ["a:2181", "b:9181"]],
])("members of a configuration %s have these addresses", async (_, servers, addresses) => {
  const config = { version: 7n, servers: servers.map((server, i) => ({ id: i + 1, role: "participant", ...server })) };
  const client = { getConfig: async () => config } as unknown as Client;
  const words: FourLetterWords = async () => "";
  const facts = new EnsembleFacts({ name: "", hosts: "z:9181,y:9182", words });
  const { members } = await facts.ensemble(client);
  expect(members.map(({ address }) => address)).toEqual(addresses);
});

test("only operators see the paths of other sessions", async () => {
  await using stage = await startStage({ address: "0.0.0.0" });
  await stage.zk.create("/e", "", { mode: "ephemeral" });
  const { json } = await stage.api("GET", "/sessions?watches=true");
  expect(json.sessions.length).toBeGreaterThan(0);
  for (const { ephemerals, watches } of json.sessions) expect([ephemerals, watches]).toEqual([null, null]);
});

test.each([
  ["nothing is wrong", [member(1), member(2), member(3)], []],
  ["a member is down", [member(1), member(2), member(3, down)], ["warning null", "warning zk3:2181"]],
  [
    "the quorum is lost",
    [member(1), member(2, down), member(3, down)],
    ["critical null", "warning zk2:2181", "warning zk3:2181"],
  ],
  ["no member leads", [member(1, { role: "follower" }), member(2), member(3)], ["critical null"]],
  ["two members lead", [member(1), member(2, { role: "leader" }), member(3)], ["critical null"]],
  ["one lags", [member(1), member(2, { lagZxids: 5000 }), member(3)], ["warning zk2:2181"]],
  [
    "one is slow",
    [member(1), member(2, { latencyMs: { min: 1, average: 500, max: 900 } }), member(3)],
    ["warning zk2:2181"],
  ],
  ["versions differ", [member(1), member(2, { version: "3.8.0" }), member(3)], ["warning null"]],
  ["the one voter is there, with an observer", [member(1), member(2, { isVoter: false })], []],
  [
    "of five voters three are there",
    [1, 2, 3, 4, 5].map((sid) => member(sid, sid > 3 ? down : {})),
    ["warning null", "warning zk4:2181", "warning zk5:2181"],
  ],
  [
    "an observer is down",
    [member(1), member(2), member(3), member(4, { ...down, isVoter: false })],
    ["warning zk4:2181"],
  ],
])("problems when %s", (_situation, members, expected) => {
  const found = ensembleProblems(members, 0).map(({ severity, member: at }) => `${severity} ${at}`);
  expect(found).toEqual(expected);
});

test("rates come from two samples, and a restart or a new epoch makes a gap", () => {
  const history = new MetricHistory();
  history.add([member(1, { received: 100, zxid: "0x100000000" })], 0);
  history.add([member(1, { received: 300, zxid: "0x100000064" })], 10_000);
  history.add([member(1, { received: 5, zxid: "0x200000001" })], 20_000);
  const { series, times } = history.json();
  const valuesOf = (wanted: string) => series.find(({ name }) => name === wanted)?.values;
  expect(times).toEqual([0, 10, 20]);
  expect(valuesOf("requests")).toEqual([null, 20, null]);
  expect(valuesOf("transactions")).toEqual([null, 10, null]);
});

test("an hour is kept, and members that come later have gaps", () => {
  const history = new MetricHistory();
  for (let i = 0; i < 400; i++) history.add(i < 395 ? [member(1)] : [member(1), member(2)], i * 10_000);
  const { series, times } = history.json();
  expect(times.length).toBe(360);
  for (const { values } of series) expect(values.length).toBe(360);
  const second = series.find(({ name, member: at }) => name === "nodes" && at === "zk2:2181");
  expect(second?.values.filter((value) => value !== null).length).toBe(5);
});

test("disks without room and certificates that expire are problems", () => {
  const day = 86_400_000;
  const storage = (room: "enough" | "low" | "full", days: number): MemberJson["storage"] => ({
    dataFreeBytes: "1",
    logFreeBytes: "1",
    room,
    certificates: [{ use: "clients", expiresAt: String(days * day) }],
  });
  const problems = (found: MemberJson["storage"]) =>
    ensembleProblems(
      [1, 2, 3].map((sid) => member(sid, sid === 2 ? { storage: found } : {})),
      0,
    ).map(({ severity, member: address }) => `${severity} ${address}`);
  expect(problems(storage("enough", 31))).toEqual([]);
  expect(problems(storage("low", 31))).toEqual(["warning zk2:2181"]);
  expect(problems(storage("full", 29))).toEqual(["critical zk2:2181", "warning zk2:2181"]);
  expect(problems(storage("enough", -1))).toEqual(["critical zk2:2181"]);
});
