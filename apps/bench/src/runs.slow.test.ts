import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BenchProcesses, type TestProcess } from "./testing/bench-processes.ts";
import type { ResultJson } from "./testing/measure.ts";

// The command itself: its output and its exit status. `workloads.test.ts` tests the measurements.

const SHORT = ["--duration", "200ms", "--warmup", "50ms", "--connections", "4", "--nodes", "50"];

const processes = new BenchProcesses();
const bench = processes.bench.bind(processes);
afterEach(() => processes.kill());

describe("against a real server", () => {
  const servers = new BenchProcesses();
  let data = "";
  let server: TestProcess;
  let hosts = "";
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "zooid-bench-server-"));
    const started = await servers.server(join(data, "data"), "--set", "4lw.commands.whitelist=mntr");
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

  test("a result in JSON is alone on stdout", async () => {
    const flags = ["--ratio", "90", ...SHORT, "--quiet", "--json", "-"];
    const { status, output, errors } = await bench("--hosts", hosts, "read-ratio", ...flags).ended;
    expect([status, errors]).toEqual([0, ""]);
    expect((JSON.parse(output) as ResultJson).points).toMatchObject([{ point: "90 % reads", errors: {} }]);
    expect(await rootIsGone()).toBe(true);
  });

  test("check prints a line for each criterion and the verdict, which is its status too", async () => {
    const flags = ["--hosts", hosts, "--duration", "500ms", "--warmup", "50ms", "--quiet"];
    const { status, output, errors } = await bench("check", ...flags).ended;
    expect(errors).toBe("");
    const lines = output.trim().split("\n").slice(-5);
    expect(lines.map((line) => line.replace(/^(PASS|FAIL)(: [a-z ]+)?.*$/, "$2"))).toEqual([
      ": throughput ",
      ": slowest request ",
      ": standard deviation ",
      ": errors ",
      "",
    ]);
    expect(status).toBe(lines.at(-1) === "PASS" ? 0 : 1);
    expect(await rootIsGone()).toBe(true);
  });

  test("a workload with missing options reports them in one message", async () => {
    const { status, output, errors } = await bench("--hosts", hosts, "recover", "--quiet").ended;
    expect([status, output]).toEqual([2, ""]);
    expect(errors).toMatch(/^zooid-bench: [^\n]+needs --restart-command[^\n]*\n$/);
  });

  test("an interrupt cleans up, reports nothing and has its own status", async () => {
    const process = bench("--hosts", hosts, "read-ratio", "--duration", "1m", "--nodes", "50");
    await process.says(/phase 3, 0 % reads/);
    process.child.kill("SIGINT");
    const { status, output, errors } = await process.ended;
    expect([status, output]).toEqual([130, ""]);
    expect(errors).toContain("interrupted");
    expect(await rootIsGone()).toBe(true);
  });
});

describe("against a server that does nothing", () => {
  test("the null server is a command of its own, which a signal ends", async () => {
    const server = bench("null-server", "--payload", "10");
    const port = await server.says(/answers on 127\.0\.0\.1:(\d+)/);
    await using client = await connect(`127.0.0.1:${port}`);
    expect((await client.get("/x")).data).toHaveLength(10);
    await client.close();
    server.child.kill("SIGTERM");
    expect((await server.ended).status).toBe(0);
  });
});
