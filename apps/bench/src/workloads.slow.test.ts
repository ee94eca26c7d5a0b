import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { measured, measuredJson } from "./testing/measure.ts";
import { eachMeasured, expectNothingLeft, expectPoints, SHORT } from "./testing/measured-server.ts";

// The workloads that `workloads.test.ts` leaves out.

const server = eachMeasured();

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-bench-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.each([
  ["payload", ["--sizes", "0,64KiB"], ["read 0 B", "write 0 B", "read 64 KiB", "write 64 KiB"]],
  ["create-unique", [], ["create"]],
  ["multi-10", [], ["multi of 10 sets"]],
  ["list-1k", [], ["list of 1000"]],
  ["ephemeral-churn", ["--ephemerals", "3"], ["sessions with 3 ephemerals"]],
])("%s measures without an error and leaves nothing behind", async (workload, flags, points) => {
  await expectPoints(server.hosts, workload, flags, points);
});

test("a run that is over before the first hand-over continues until there is one", async () => {
  const flags = ["--contenders", "5", "--duration", "1ms", "--warmup", "0"];
  const { points } = await measuredJson("--hosts", server.hosts, "lock", ...flags);
  for (const { value, latencies } of points) {
    expect(value.median).toBeGreaterThan(0);
    expect(latencies["hand-over"]?.count).toBeGreaterThan(0);
  }
});

test("watch-fanout counts every notification, also where connections watch several nodes", async () => {
  const flags = ["--sizes", "1,20", "--duration", "500ms", "--warmup", "0", "--connections", "8"];
  const { points } = await measuredJson("--hosts", server.hosts, "watch-fanout", ...flags);
  expect(points.map(({ point }) => point)).toEqual(["1 watch", "20 watches"]);
  for (const [i, { requests, figures, latencies }] of points.entries()) {
    expect(figures["rounds"]).toBeGreaterThan(0);
    expect(requests).toBe((figures["rounds"] ?? 0) * (i === 0 ? 1 : 20));
    expect(latencies["write to each"]?.count).toBe(requests);
    expect(latencies["write to last"]?.count).toBe(figures["rounds"]);
  }
  await expectNothingLeft(server.hosts);
});

test("sessions are opened, held, resumed after a cut, and closed", async () => {
  const flags = ["--sessions", "120", "--idle", "300ms", "--server-pid", String(server.process.child.pid)];
  const { points } = await measuredJson("--hosts", server.hosts, "sessions", ...flags);
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
  const flags = ["--contenders", "5", "--duration", "500ms", "--warmup", "50ms"];
  const pid = ["--server-pid", String(server.process.child.pid)];
  const { points } = await measuredJson("--hosts", server.hosts, workload, ...flags, ...pid);
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
  await expectNothingLeft(server.hosts);
});

test.each([
  ["barrier", "3", "3 members", ["round", "enter", "leave"]],
  ["queue", "2", "2 putters", ["put to taken", "put"]],
])("%s measures what its members do together", async (workload, contenders, point, kinds) => {
  const flags = ["--contenders", contenders, "--duration", "500ms", "--warmup", "50ms"];
  const { points } = await measuredJson("--hosts", server.hosts, workload, ...flags);
  expect(points).toMatchObject([{ point, errors: {} }]);
  expect(points[0]?.requests).toBeGreaterThan(0);
  expect(Object.keys(points[0]?.latencies ?? {})).toEqual(kinds);
  expect(points[0]?.latencies[kinds[0] ?? ""]?.count).toBe(points[0]?.requests);
  await expectNothingLeft(server.hosts);
});

test("timeline counts slice by slice, runs its events, and draws them", async () => {
  const svg = join(directory, "timeline.svg");
  const flags = ["--slice", "125ms", "--event", `100ms touched=touch "${directory}/x"`, "--event", "150ms bad=exit 4"];
  const { points } = await measuredJson("--hosts", server.hosts, "timeline", ...SHORT, ...flags, "--svg", svg);
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
  const table = await measured("--hosts", server.hosts, "timeline", ...SHORT, ...flags);
  expect(table).toMatch(/^0\.\d{3} .* touched/m);
  expect(table).toContain('"bad" ended with status 4');
});

test("a table says how the load was made, and that a closed loop is blind", async () => {
  const output = await measured("--hosts", server.hosts, "multi-10", ...SHORT, "--in-flight", "2");
  expect(output).toMatch(/multi of 10 sets +closed loop, 4 × 2 ¹ +[\d,.]+ requests\/s/);
  expect(output).toContain("closed loop: blind to stalls");
  const open = await measured("--hosts", server.hosts, "multi-10", ...SHORT, "--rate", "200");
  expect(open).toMatch(/open loop, 200\/s constant, 4 connections/);
  expect(open).not.toContain("blind");
});
