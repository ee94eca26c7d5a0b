import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { afterAll, beforeAll, expect } from "vitest";
import { BenchProcesses, type TestProcess } from "./bench-processes.ts";
import { measuredJson } from "./measure.ts";

/** Flags of a short run. */
export const SHORT: readonly string[] = [
  ...["--duration", "500ms", "--warmup", "50ms", "--connections", "4", "--nodes", "50"],
];

export interface MeasuredServer {
  hosts: string;
  process: TestProcess;
}

/** A server for all tests of a file; its fields are there once the tests run. */
export function eachMeasured(): MeasuredServer {
  const processes = new BenchProcesses();
  const measuredServer = {} as MeasuredServer;
  let data = "";
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "zooid-bench-server-"));
    const { server, port } = await processes.server(join(data, "data"), "--set", "4lw.commands.whitelist=mntr");
    Object.assign(measuredServer, { process: server, hosts: `127.0.0.1:${port}` });
  });
  afterAll(async () => {
    measuredServer.process.child.kill("SIGTERM");
    await measuredServer.process.ended;
    rmSync(data, { recursive: true, force: true });
  });
  return measuredServer;
}

/** Expects that nothing is left of what a run has made. */
export async function expectNothingLeft(hosts: string): Promise<void> {
  await using client = await connect(hosts);
  expect(await client.exists("/zooid-bench")).toBeNull();
}

/** Runs a workload and expects these points of it, without an error. */
export async function expectPoints(
  hosts: string,
  workload: string,
  flags: readonly string[],
  points: readonly string[],
): Promise<void> {
  const result = await measuredJson("--hosts", hosts, workload, ...SHORT, ...flags);
  expect(result.points.map(({ point }) => point)).toEqual(points);
  // A slice of a busy machine's time may have no request, so the median may be 0.
  for (const { errors, requests, latencies } of result.points) {
    expect(errors).toEqual({});
    expect(requests).toBeGreaterThan(0);
    expect(Object.values(latencies)[0]?.count).toBeGreaterThan(0);
  }
  await expectNothingLeft(hosts);
}
