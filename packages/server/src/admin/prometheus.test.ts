import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";

const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{(?:[a-z_]+="[^"\\\n]*",?)*\})? (-?[\d.]+(?:e[+-]?\d+)?|NaN|[+-]Inf)$/;

interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: ReadonlyMap<string, number>;
}

/** Reads the text format as Prometheus does: a line that it would refuse throws. */
function parse(text: string): Exposition {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ")) continue;
    const type = /^# TYPE (\S+) (gauge|counter|summary|histogram)$/.exec(line);
    if (type !== null) {
      const [, name = "", kind = ""] = type;
      if (types.has(name)) throw new Error(`the type of ${name} is declared twice`);
      types.set(name, kind);
      continue;
    }
    const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    const family = types.has(name) ? name : name.replace(/_(sum|count|bucket)$/, "");
    if (!types.has(family)) throw new Error(`not a sample of a known type: ${line}`);
    if (samples.has(name + labels)) throw new Error(`duplicate sample: ${line}`);
    samples.set(name + labels, Number(value.replace("Inf", "Infinity")));
  }
  return { types, samples };
}

const APACHE: ReadonlyMap<string, string> = new Map(
  readFileSync(join(import.meta.dirname, "apache-metric-types.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, string]),
);
/** Metrics of single nodes, learners or answers are not measured; see docs/operations.md. */
const NOT_MEASURED = /_per_namespace$|_client_response_size$|^ack_latency$|^learner_handler_qp_/;

test("every series of Apache's exporter is there, of its type and without a prefix", async () => {
  await using zk = await startTestServer({ admin: { port: 0 } });
  const { status, headers, body } = await ask(zk.adminPort, "/metrics");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const { types } = parse(body);
  const wanted = new Map([...APACHE].filter(([name]) => !NOT_MEASURED.test(name)));
  expect(new Map([...wanted.keys()].map((name) => [name, types.get(name)]))).toEqual(wanted);
  for (const name of ["nodejs_eventloop_lag_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total"]) {
    expect(types.has(name)).toBe(true);
  }
});

test("Zooid's version stands behind the protocol's, beside Node.js's", async () => {
  await using zk = await startTestServer({ admin: { port: 0 }, version: "9.8.7" });
  const text = await (await fetch(`http://127.0.0.1:${zk.adminPort}/metrics`)).text();
  expect(text).toMatch(/^zooid_build_info\{version="3\.9\.5-zooid-9\.8\.7, [^"]*",node="\d+\.\d+\.\d+"\} 1$/m);
});

test("values are current, and empty before there were any", async () => {
  await using zk = await startTestServer({ admin: { port: 0 } });
  const before = parse((await ask(zk.adminPort, "/metrics")).body).samples;
  expect(before.get('readlatency{quantile="0.99"}')).toBeNaN();
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x"));
  for (let i = 0; i < 5; i++) await client.ask(OpCode.EXISTS, read("/a"));
  const after = parse((await ask(zk.adminPort, "/metrics")).body).samples;
  expect(
    ["readlatency_count", "updatelatency_count", "znode_count", "num_alive_connections"].map((n) => after.get(n)),
  ).toEqual([5, 2, 6, 1]);
  for (const quantile of ["0.5", "0.9", "0.95", "0.99"]) {
    expect(after.get(`readlatency{quantile="${quantile}"}`)).toBeGreaterThanOrEqual(0);
  }
  expect(after.get('fsynctime{quantile="0.5"}')).toBeNaN();
});

test("durations of requests are histograms by operation, those of commits one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "zooid-buckets-"));
  try {
    await using zk = await startTestServer({ dataDir, admin: { port: 0 } });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a"));
    for (let i = 0; i < 3; i++) await client.ask(OpCode.GET_DATA, read("/a"));
    // No operation of ours: it is refused, and no series is made of it.
    await client.ask(12_345 as OpCode, read("/a")).catch(() => {});
    const { types, samples } = parse((await ask(zk.adminPort, "/metrics")).body);
    expect([types.get("zooid_request_seconds"), types.get("zooid_commit_seconds")]).toEqual(["histogram", "histogram"]);
    expect(samples.get('zooid_request_seconds_count{op="get_data"}')).toBe(3);
    expect(samples.get('zooid_request_seconds_bucket{op="get_data",le="+Inf"}')).toBe(3);
    expect(samples.get('zooid_request_seconds_bucket{op="create",le="10"}')).toBe(1);
    expect([...samples.keys()].filter((name) => name.includes("12345"))).toEqual([]);
    expect(samples.get("zooid_commit_seconds_count")).toBeGreaterThanOrEqual(1);
    expect(samples.get("zooid_commit_seconds_sum")).toBeGreaterThan(0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("metrics of the leader exist while it leads", async () => {
  const servers = [{ sid: 1, host: "127.0.0.1", quorumPort: 0, electionPort: 0 }];
  await using leader = await startTestServer({ admin: { port: 0 }, ensemble: { sid: 1, servers } });
  await using alone = await startTestServer({ admin: { port: 0 } });
  await new Promise<void>((resolve) => {
    leader.role$.subscribe((role) => {
      if (role === "leading") resolve();
    });
  });
  const led = parse((await ask(leader.adminPort, "/metrics")).body).samples;
  const single = parse((await ask(alone.adminPort, "/metrics")).body).samples;
  for (const name of ["leader_uptime", "quorum_size", "learners", "synced_followers", "pending_syncs"]) {
    expect([name, led.has(name), single.has(name)]).toEqual([name, true, false]);
  }
  expect(led.get("election_time_count")).toBe(1);
});

test("the port for metrics answers them and nothing else, with Java's names where they are asked for", async () => {
  await using zk = await startTestServer({ metrics: { port: 0, address: "127.0.0.1" } });
  await using plain = await startTestServer({ metrics: { port: 0, address: "127.0.0.1", exportJvmInfo: false } });
  const names = parse((await ask(zk.metricsPort, "/metrics")).body).types;
  expect(
    ["jvm_memory_bytes_used", "jvm_memory_bytes_max", "jvm_threads_current", "jvm_threads_deadlocked"].filter(
      (n) => !names.has(n),
    ),
  ).toEqual([]);
  const { types } = parse((await ask(plain.metricsPort, "/metrics")).body);
  expect([...types.keys()].filter((name) => /^jvm_(?!pause)/.test(name))).toEqual([]);
  for (const path of ["/", "/commands", "/commands/srst", "/readyz"]) {
    expect((await ask(zk.metricsPort, path)).status).toBe(404);
  }
  expect((await ask(zk.metricsPort, "/metrics", { method: "POST" })).status).toBe(405);
  expect(zk.adminPort).toBeUndefined();
});

test("every series has a help text that explains it", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "zooid-help-"));
  try {
    await using zk = await startTestServer({ dataDir, admin: { port: 0 } });
    const { body } = await ask(zk.adminPort, "/metrics");
    const lines = body.split("\n").filter((line) => line.startsWith("# HELP "));
    const unexplained = lines.filter((line) => line.split(" ").length < 6);
    expect(unexplained).toEqual([]);
    expect(lines.length).toBeGreaterThan(150);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("the free space of the disks of state and log is shown", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "zooid-disk-"));
  try {
    await using zk = await startTestServer({ dataDir, admin: { port: 0 } });
    const { samples } = parse((await ask(zk.adminPort, "/metrics")).body);
    expect(samples.get('zooid_disk_free_bytes{key="data"}')).toBeGreaterThan(0);
    expect(samples.get('zooid_disk_free_bytes{key="log"}')).toBeGreaterThan(0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
