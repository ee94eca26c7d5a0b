import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startNullServer } from "./null-server/null-server-thread.ts";
import { BenchProcesses, SERVER_BIN, type TestProcess } from "./testing/bench-processes.ts";
import type { ResultJson } from "./testing/measure.ts";

// The command itself in slow cases: servers that die, counted errors, runs in turn.

const SHORT = ["--duration", "200ms", "--warmup", "50ms", "--connections", "4", "--nodes", "50"];

const processes = new BenchProcesses();
const bench = processes.bench.bind(processes);
let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-bench-"));
});
afterEach(async () => {
  await processes.kill();
  rmSync(directory, { recursive: true, force: true });
});

test("a server that dies ends the run, with the reason first and errors of the clean-up after it", async () => {
  const { server, port } = await processes.server(join(directory, "data"));
  const hosts = `127.0.0.1:${port}`;
  const run = bench("--hosts", hosts, "payload", "--sizes", "0,100", ...SHORT, "--duration", "1s");
  await run.says(/write 0 B/);
  server.child.kill("SIGKILL");
  const { status, errors } = await run.ended;
  expect(status).toBe(1);
  expect(errors).toMatch(/zooid-bench: .*ECONNREFUSED|zooid-bench: .*CONNECTION_LOSS/);
  expect(errors).not.toContain("suppressed");
});

describe("against a real server", () => {
  const servers = new BenchProcesses();
  let data = "";
  let port = "";
  let server: TestProcess;
  let hosts = "";
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "zooid-bench-server-"));
    const started = await servers.server(join(data, "data"), "--set", "4lw.commands.whitelist=mntr");
    server = started.server;
    port = started.port;
    hosts = `127.0.0.1:${port}`;
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

  test("the memory of an idle session is reported, if the server's process is given", async () => {
    const flags = ["--sessions", "120", "--idle", "300ms", "--server-pid", String(server.child.pid)];
    const { output } = await bench("--hosts", hosts, "sessions", ...flags, "--json", "-", "--quiet").ended;
    const { points } = JSON.parse(output) as ResultJson;
    expect(points[0]?.figures).toHaveProperty("bytes of the server per idle session");
  });

  test.each([
    ["read-ratio", "100 % reads", ["NO_NODE"]],
    // A refused transaction has the code OK in its header; its first result shows that it was
    // refused, and the reason if the first part was refused.
    ["multi-10", "multi of 10 sets", ["MULTI_REFUSED", "NO_NODE"]],
  ])(
    "%s: answers that are errors are counted by code, and too many of them are a failure",
    async (workload, point, codes) => {
      const flags = ["--ratio", "100", "--nodes", "50", "--warmup", "0", "--duration", "2s", "--connections", "4"];
      const file = join(directory, "result.json");
      const process = bench("--hosts", hosts, workload, ...flags, "--json", file);
      await process.says(/phase 3, /);
      await using client = await connect(hosts);
      const [run = ""] = (await client.children("/zooid-bench")).names;
      const parent = `/zooid-bench/${run}/nodes`;
      for (const name of (await client.children(parent)).names) await client.delete(`${parent}/${name}`);
      const { status, errors } = await process.ended;
      expect(status).toBe(1);
      expect(errors).toContain(`${point}: `);
      expect(errors).toMatch(/[\d.]+ % errors, more than 1 %; --max-errors allows more/);
      const { points } = JSON.parse(readFileSync(file, "utf8")) as ResultJson;
      const counts = points[0]?.errors ?? {};
      expect(codes).toEqual(expect.arrayContaining(Object.keys(counts)));
      // Failed requests have their latency too.
      const failed = Object.values(counts).reduce((sum, count) => sum + count, 0);
      expect(failed).toBeGreaterThan(0);
      expect(Object.values(points[0]?.latencies ?? {})[0]?.count).toBeGreaterThanOrEqual(failed);
      expect(await rootIsGone()).toBe(true);
    },
  );

  test("two sides are run in turn, and a server does not differ from itself by its name", async () => {
    const svg = join(directory, "chart.svg");
    const file = join(directory, "result.json");
    const flags = [...SHORT, "--repeats", "2", "--a-name", "left", "--b-name", "right", "--svg", svg, "--json", file];
    const { status, output, errors } = await bench("compare", hosts, `localhost:${port}`, "multi-10", ...flags).ended;
    expect(status).toBe(0);
    const turns = [...errors.matchAll(/(left|right) (\d) of 2: multi/g)].map(([, side, repeat]) => `${side} ${repeat}`);
    expect(turns).toEqual(["left 1", "right 1", "left 2", "right 2"]);
    expect(output).toMatch(/left \/ right/);
    expect(output).toContain("too few repeats to tell");
    expect(readFileSync(svg, "utf8")).toMatch(/^<svg .*left.*right.*<\/svg>\n$/s);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ kind: "compare", a: { name: "left" } });
  });
});

test("recover takes the time from the restart to the first answer, with the tree still there", async () => {
  const pidFile = join(directory, "pid");
  const data = join(directory, "data");
  const start = (port: string): string =>
    `"${SERVER_BIN}" --port ${port} --data "${data}" > "${directory}/log" 2>&1 & echo $! > "${pidFile}"`;
  // One below the range of outgoing connections: those of other tests may get a port that is free
  // while its server restarts.
  const [fixed = 0] = await freePorts(1);
  const { server: first, port } = await processes.serverAt(fixed, data);
  writeFileSync(pidFile, String(first.child.pid));
  const restart = join(directory, "restart.sh");
  // A killed process holds its port until it is gone. Where no process reaps it, it never is.
  const kill = `old=$(cat "${pidFile}"); kill -9 $old; for i in $(seq 300); do kill -0 $old || break; sleep 0.01; done`;
  writeFileSync(restart, `${kill}\n${start(port)}\n`);
  try {
    const flags = ["--sizes", "100,300", "--restart-command", `sh "${restart}"`, "--json", "-", "--quiet"];
    const { output } = await bench("--hosts", `127.0.0.1:${port}`, "recover", ...flags).ended;
    const { points } = JSON.parse(output) as ResultJson;
    expect(points.map(({ point }) => point)).toEqual(["100 nodes", "300 nodes"]);
    for (const { value, figures } of points) {
      expect(value.median).toBeGreaterThan(figures["ms until the old one was gone"] ?? 0);
    }
  } finally {
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
  }
});

test("a calibration reports the generator's reserve above the measurement", async () => {
  await using server = await startNullServer({ payloadBytes: 1024 });
  const flags = ["--hosts", `127.0.0.1:${server.port}`, "--ratio", "100", ...SHORT, "--quiet"];
  const { status, output } = await bench("calibrate", "read-ratio", ...flags).ended;
  // The measured server is a null server too, where no tree can be created: every node exists
  // already.
  expect(status).toBe(0);
  expect(output).toMatch(/the generator alone reaches [\d.]+ times what was measured/);
});
