import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@zooid/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startNullServer } from "./null-server-thread.ts";
import type { Timeline } from "./timeline.ts";

// The command itself, against a server that does nothing and against a real one.

const BIN = fileURLToPath(new URL("../bin/zooid-bench", import.meta.url));
const SERVER_BIN = fileURLToPath(new URL("../../server/bin/zooid-server", import.meta.url));
const SHORT = ["--duration", "200ms", "--warmup", "50ms", "--connections", "4", "--nodes", "50"];

interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

class Process {
  output = "";
  errors = "";
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(command: string, argv: readonly string[]) {
    this.child = spawn(command, argv, { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.ended = once(this.child, "close").then(([status]) => ({ status, output: this.output, errors: this.errors }));
    running.add(this);
    void this.ended.then(() => running.delete(this));
  }

  /** Resolves when what was written so far, to either side, matches. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.output) ?? pattern.exec(this.errors);
      if (match !== null) return match[1] ?? match[0];
      const { stdout, stderr } = this.child;
      if (this.child.exitCode !== null || stdout === null || stderr === null)
        throw new Error(this.output + this.errors);
      await Promise.race([once(stdout, "data"), once(stderr, "data"), this.ended]);
    }
  }
}

const running = new Set<Process>();

function bench(...argv: readonly string[]): Process {
  return new Process(BIN, argv);
}

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-bench-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGKILL");
    await ended;
  }
});

interface Json {
  readonly points: readonly {
    readonly point: string;
    readonly loop: string;
    readonly isBlindToStalls: boolean;
    readonly value: { readonly median: number; readonly all: readonly number[] };
    readonly requests: number;
    readonly errors: Readonly<Record<string, number>>;
    readonly latencies: Readonly<
      Record<string, { readonly count: number; readonly p99: number; readonly histogram: string }>
    >;
    readonly generator: { readonly utilisation: number; readonly doubts: readonly string[] };
    readonly figures: Readonly<Record<string, number>>;
    readonly timelines: readonly Timeline[];
  }[];
}

async function json(process: Process): Promise<Json> {
  const { status, output, errors } = await process.ended;
  expect(errors).toBe("");
  expect(status).toBe(0);
  return JSON.parse(output) as Json;
}

const QUIET_JSON = ["--quiet", "--json", "-"];

test("a server that dies ends the run, with the reason first and what could not be tidied up behind it", async () => {
  const server = new Process(SERVER_BIN, ["--port", "0", "--data", join(directory, "data")]);
  const hosts = `127.0.0.1:${await server.says(/clients on 127\.0\.0\.1:(\d+)/)}`;
  const run = bench("--hosts", hosts, "payload", "--sizes", "0,100", ...SHORT, "--duration", "1s");
  await run.says(/write 0 B/);
  server.child.kill("SIGKILL");
  const { status, errors } = await run.ended;
  expect(status).toBe(1);
  expect(errors).toMatch(/zooid-bench: .*ECONNREFUSED|zooid-bench: .*CONNECTION_LOSS/);
  expect(errors).not.toContain("suppressed");
});

describe("against a real server", () => {
  let data = "";
  let server: Process;
  let port = "";
  let hosts = "";
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "zooid-bench-server-"));
    server = new Process(SERVER_BIN, [
      "--port",
      "0",
      "--data",
      join(data, "data"),
      "--set",
      "4lw.commands.whitelist=mntr",
    ]);
    port = await server.says(/serves ZooKeeper clients on [^ ]*:(\d+),/);
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

  test.each([
    ["read-ratio", ["--ratio", "0,90"], ["0 % reads", "90 % reads"]],
    ["payload", ["--sizes", "0,64KiB", "--duration", "1s"], ["read 0 B", "write 0 B", "read 64 KiB", "write 64 KiB"]],
    ["create-unique", [], ["create"]],
    ["multi-10", [], ["multi of 10 sets"]],
    ["list-1k", [], ["list of 1000"]],
    ["ephemeral-churn", ["--ephemerals", "3"], ["sessions with 3 ephemerals"]],
  ])("%s measures without an error and leaves nothing behind", async (workload, flags, points) => {
    const result = await json(bench("--hosts", hosts, workload, ...SHORT, ...flags, ...QUIET_JSON));
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
    const flags = ["--sizes", "1,20", "--duration", "200ms", "--warmup", "0", "--connections", "8", ...QUIET_JSON];
    const { points } = await json(bench("--hosts", hosts, "watch-fanout", ...flags));
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
    const flags = ["--sessions", "120", "--idle", "300ms", "--server-pid", String(server.child.pid), ...QUIET_JSON];
    const { points } = await json(bench("--hosts", hosts, "sessions", ...flags));
    expect(points.map(({ point, requests, errors }) => [point, requests, errors])).toEqual([
      ["open", 120, {}],
      ["reconnect storm", 120, {}],
      ["close", 120, {}],
    ]);
    expect(points[0]?.figures).toHaveProperty("bytes of the server per idle session");
    expect(points[1]?.figures["ms until all were back"]).toBeGreaterThan(0);
  });

  test.each([
    ["lock", "release"],
    ["election", "term"],
  ])("%s: in line each %s wakes the next one, else all", async (workload, one) => {
    const flags = ["--contenders", "5", "--duration", "300ms", "--warmup", "50ms"];
    const pid = ["--server-pid", String(server.child.pid)];
    const { points } = await json(bench("--hosts", hosts, workload, ...flags, ...pid, ...QUIET_JSON));
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
    const flags = ["--contenders", contenders, "--duration", "300ms", "--warmup", "50ms"];
    const { points } = await json(bench("--hosts", hosts, workload, ...flags, ...QUIET_JSON));
    expect(points).toMatchObject([{ point, errors: {} }]);
    expect(points[0]?.requests).toBeGreaterThan(0);
    expect(Object.keys(points[0]?.latencies ?? {})).toEqual(kinds);
    expect(points[0]?.latencies[kinds[0] ?? ""]?.count).toBe(points[0]?.requests);
    expect(await rootIsGone()).toBe(true);
  });

  test("timeline counts slice by slice, runs its events, and draws them", async () => {
    const svg = join(directory, "timeline.svg");
    const flags = ["--slice", "50ms", "--event", `100ms touched=touch "${directory}/x"`, "--event", "150ms bad=exit 4"];
    const process = bench("--hosts", hosts, "timeline", ...SHORT, ...flags, "--svg", svg, ...QUIET_JSON);
    const { points } = await json(process);
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
    const table = await bench("--hosts", hosts, "timeline", ...SHORT, ...flags, "--quiet").ended;
    expect(table.output).toMatch(/^0\.\d{3} .* touched/m);
    expect(table.output).toContain('"bad" ended with status 4');
  });

  test("an event that would come too late is refused", async () => {
    const { status, errors } = await bench("--hosts", hosts, "timeline", ...SHORT, "--event", "9s=true").ended;
    expect(status).toBe(2);
    expect(errors).toContain("timeline is over after 0.2 s (--duration)");
  });

  test.each([
    ["write-at", "needs an ensemble"],
    ["scale", "needs ensembles of different sizes"],
    ["recover", "needs --restart-command"],
  ])("%s says in one sentence what it would need", async (workload, sentence) => {
    const { status, output, errors } = await bench("--hosts", hosts, workload, "--quiet").ended;
    expect([status, output]).toEqual([2, ""]);
    expect(errors).toMatch(/^zooid-bench: [^\n]+\n$/);
    expect(errors).toContain(sentence);
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

  test.each([
    ["read-ratio", "100 % reads", ["NO_NODE"]],
    // A transaction's header says OK: its first result tells that it was refused, and why if the first part was the reason.
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
      const { points } = JSON.parse(readFileSync(file, "utf8")) as Json;
      const counts = points[0]?.errors ?? {};
      expect(codes).toEqual(expect.arrayContaining(Object.keys(counts)));
      // What failed has its latency like everything else.
      const failed = Object.values(counts).reduce((sum, count) => sum + count, 0);
      expect(failed).toBeGreaterThan(0);
      expect(Object.values(points[0]?.latencies ?? {})[0]?.count).toBeGreaterThanOrEqual(failed);
      expect(await rootIsGone()).toBe(true);
    },
  );

  test("a table says how the load was made, and that a closed loop is blind", async () => {
    const { output } = await bench("--hosts", hosts, "multi-10", ...SHORT, "--in-flight", "2", "--quiet").ended;
    expect(output).toMatch(/multi of 10 sets +closed loop, 4 × 2 ¹ +[\d,.]+ requests\/s/);
    expect(output).toContain("closed loop: blind to stalls");
    const open = await bench("--hosts", hosts, "multi-10", ...SHORT, "--rate", "200", "--quiet").ended;
    expect(open.output).toMatch(/open loop, 200\/s constant, 4 connections/);
    expect(open.output).not.toContain("blind");
  });

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
  const first = new Process(SERVER_BIN, ["--port", "0", "--data", data]);
  const port = await first.says(/serves ZooKeeper clients on [^ ]*:(\d+),/);
  writeFileSync(pidFile, String(first.child.pid));
  const restart = join(directory, "restart.sh");
  writeFileSync(restart, `kill -9 "$(cat "${pidFile}")"\n${start(port)}\n`);
  try {
    const flags = ["--sizes", "100,300", "--restart-command", `sh "${restart}"`, ...QUIET_JSON];
    const { points } = await json(bench("--hosts", `127.0.0.1:${port}`, "recover", ...flags));
    expect(points.map(({ point }) => point)).toEqual(["100 nodes", "300 nodes"]);
    for (const { value, figures } of points) {
      expect(value.median).toBeGreaterThan(figures["ms until the old one was gone"] ?? 0);
    }
  } finally {
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
  }
});

describe("against a server that does nothing", () => {
  test("a calibration tells how far the generator stands above what was measured", async () => {
    await using server = await startNullServer({ payloadBytes: 1024 });
    const flags = ["--hosts", `127.0.0.1:${server.port}`, "--ratio", "100", ...SHORT, "--quiet"];
    const { status, output } = await bench("calibrate", "read-ratio", ...flags).ended;
    // What is measured here is a null server as well, and no tree can be made on it: every node is there already.
    expect(status).toBe(0);
    expect(output).toMatch(/the generator by itself reaches [\d.]+ times what was measured/);
  });

  test("what cannot be pretended cannot be calibrated", async () => {
    const { status, errors } = await bench("calibrate", "watch-fanout", "--quiet").ended;
    expect(status).toBe(2);
    expect(errors).toContain("cannot be calibrated");
  });

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

test("a server that is not there ends it with status 1 and one sentence", async () => {
  const server = await startNullServer();
  await server[Symbol.asyncDispose]();
  const { status, output, errors } = await bench("--hosts", `127.0.0.1:${server.port}`, "list-1k", "--quiet").ended;
  expect([status, output]).toEqual([1, ""]);
  expect(errors).toMatch(/^zooid-bench: no server of 127\.0\.0\.1:\d+ can be reached: [^\n]+\n$/);
});

test("another machine is not loaded unless that is said", async () => {
  const { status, errors } = await bench("--hosts", "192.0.2.1:2181", "read-ratio").ended;
  expect(status).toBe(2);
  expect(errors).toContain("--allow-remote");
});
