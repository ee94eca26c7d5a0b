import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { BenchProcesses, type TestProcess } from "./testing/bench-processes.ts";
import { measured, measuredJson } from "./testing/measure.ts";
import { UsageError } from "./usage-error.ts";

// Every workload against a real server, in the test's own process.

const SHORT = ["--duration", "500ms", "--warmup", "50ms", "--connections", "4", "--nodes", "50"];

const processes = new BenchProcesses();
let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-bench-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

let data = "";
let server: TestProcess;
let hosts = "";
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "zooid-bench-server-"));
  const started = await processes.server(join(data, "data"), "--set", "4lw.commands.whitelist=mntr");
  server = started.server;
  hosts = `127.0.0.1:${started.port}`;
});
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.ended;
  rmSync(data, { recursive: true, force: true });
});

async function rootIsGone(): Promise<boolean> {
  await using client = await connect(hosts);
  return (await client.exists("/zooid-bench")) === null;
}

test.each([
  ["read-ratio", ["--ratio", "0,90"], ["0 % reads", "90 % reads"]],
  ["payload", ["--sizes", "0,64KiB"], ["read 0 B", "write 0 B", "read 64 KiB", "write 64 KiB"]],
  ["create-unique", [], ["create"]],
  ["multi-10", [], ["multi of 10 sets"]],
  ["list-1k", [], ["list of 1000"]],
  ["ephemeral-churn", ["--ephemerals", "3"], ["sessions with 3 ephemerals"]],
])("%s measures without an error and leaves nothing behind", async (workload, flags, points) => {
  const result = await measuredJson("--hosts", hosts, workload, ...SHORT, ...flags);
  expect(result.points.map(({ point }) => point)).toEqual(points);
  for (const { value, errors, requests, latencies } of result.points) {
    expect(errors).toEqual({});
    expect(value.median).toBeGreaterThan(0);
    expect(requests).toBeGreaterThan(0);
    expect(Object.values(latencies)[0]?.count).toBeGreaterThan(0);
  }
  expect(await rootIsGone()).toBe(true);
});

test("watch-fanout counts every notification, also where connections watch several nodes", async () => {
  const flags = ["--sizes", "1,20", "--duration", "200ms", "--warmup", "0", "--connections", "8"];
  const { points } = await measuredJson("--hosts", hosts, "watch-fanout", ...flags);
  expect(points.map(({ point }) => point)).toEqual(["1 watch", "20 watches"]);
  for (const [i, { requests, figures, latencies }] of points.entries()) {
    expect(figures["rounds"]).toBeGreaterThan(0);
    expect(requests).toBe((figures["rounds"] ?? 0) * (i === 0 ? 1 : 20));
    expect(latencies["write to each"]?.count).toBe(requests);
    expect(latencies["write to last"]?.count).toBe(figures["rounds"]);
  }
  expect(await rootIsGone()).toBe(true);
});

test("sessions are opened, held, resumed after a cut, and closed", async () => {
  const flags = ["--sessions", "120", "--idle", "300ms", "--server-pid", String(server.child.pid)];
  const { points } = await measuredJson("--hosts", hosts, "sessions", ...flags);
  expect(points.map(({ point, requests, errors }) => [point, requests, errors])).toEqual([
    ["open", 120, {}],
    ["reconnect storm", 120, {}],
    ["close", 120, {}],
  ]);
  expect(points[0]?.figures["sessions"]).toBe(120);
  expect(points[1]?.figures["ms until all were back"]).toBeGreaterThan(0);
});

test.each([
  ["lock", "release"],
  ["election", "term"],
])("%s: in line each %s wakes the next one, else all", async (workload, one) => {
  const flags = ["--contenders", "5", "--duration", "200ms", "--warmup", "50ms"];
  const pid = ["--server-pid", String(server.child.pid)];
  const { points } = await measuredJson("--hosts", hosts, workload, ...flags, ...pid);
  expect(points.map(({ point, errors }) => [point, errors])).toEqual([
    ["fair, 5 contenders", {}],
    ["unfair, 5 contenders", {}],
  ]);
  for (const { value, requests, latencies, figures } of points) {
    expect(value.median).toBeGreaterThan(0);
    expect(latencies["hand-over"]?.count).toBe(requests);
    expect(figures[`requests a ${one}`]).toBeGreaterThan(2);
    expect(figures[`server CPU a ${one} (ms)`]).toBeGreaterThan(0);
  }
  const [fair, unfair] = points.map(({ figures }) => figures[`notifications a ${one}`] ?? Number.NaN);
  // The next one, and the holder itself of its own node.
  expect(fair).toBeCloseTo(2, 0);
  expect(unfair).toBeCloseTo(5, 0);
  expect(points[0]?.figures["to the same one again (%)"]).toBe(0);
  expect(await rootIsGone()).toBe(true);
});

test.each([
  ["barrier", "3", "3 members", ["round", "enter", "leave"]],
  ["queue", "2", "2 putters", ["put to taken", "put"]],
])("%s measures what its members do together", async (workload, contenders, point, kinds) => {
  const flags = ["--contenders", contenders, "--duration", "200ms", "--warmup", "50ms"];
  const { points } = await measuredJson("--hosts", hosts, workload, ...flags);
  expect(points).toMatchObject([{ point, errors: {} }]);
  expect(points[0]?.requests).toBeGreaterThan(0);
  expect(Object.keys(points[0]?.latencies ?? {})).toEqual(kinds);
  expect(points[0]?.latencies[kinds[0] ?? ""]?.count).toBe(points[0]?.requests);
  expect(await rootIsGone()).toBe(true);
});

test("timeline counts slice by slice, runs its events, and draws them", async () => {
  const svg = join(directory, "timeline.svg");
  const flags = ["--slice", "125ms", "--event", `100ms touched=touch "${directory}/x"`, "--event", "150ms bad=exit 4"];
  const { points } = await measuredJson("--hosts", hosts, "timeline", ...SHORT, ...flags, "--svg", svg);
  const [timeline] = points[0]?.timelines ?? [];
  expect(timeline?.answered["read"]).toHaveLength(4);
  expect(timeline?.answered["write"]).toHaveLength(4);
  const answered = Object.values(timeline?.answered ?? {}).flat();
  expect(answered.reduce((sum, count) => sum + count, 0)).toBe(points[0]?.requests);
  expect(timeline?.events.map(({ label, failure }) => [label, failure])).toEqual([
    ["touched", undefined],
    ["bad", "ended with status 4"],
  ]);
  expect(existsSync(join(directory, "x"))).toBe(true);
  expect(readFileSync(svg, "utf8")).toContain("touched");
  const table = await measured("--hosts", hosts, "timeline", ...SHORT, ...flags);
  expect(table).toMatch(/^0\.\d{3} .* touched/m);
  expect(table).toContain('"bad" ended with status 4');
});

test("a table says how the load was made, and that a closed loop is blind", async () => {
  const output = await measured("--hosts", hosts, "multi-10", ...SHORT, "--in-flight", "2");
  expect(output).toMatch(/multi of 10 sets +closed loop, 4 × 2 ¹ +[\d,.]+ requests\/s/);
  expect(output).toContain("closed loop: blind to stalls");
  const open = await measured("--hosts", hosts, "multi-10", ...SHORT, "--rate", "200");
  expect(open).toMatch(/open loop, 200\/s constant, 4 connections/);
  expect(open).not.toContain("blind");
});

test.each([
  ["write-at", "needs an ensemble"],
  ["scale", "needs ensembles of different sizes"],
  ["recover", "needs --restart-command"],
])("%s says in one sentence what it would need", async (workload, sentence) => {
  const failing = measured("--hosts", hosts, workload);
  await expect(failing).rejects.toBeInstanceOf(UsageError);
  await expect(failing).rejects.toThrow(sentence);
});

test("an event that would come too late is refused", async () => {
  const failing = measured("--hosts", hosts, "timeline", ...SHORT, "--event", "9s=true");
  await expect(failing).rejects.toThrow("timeline is over after 0.5 s (--duration)");
});
