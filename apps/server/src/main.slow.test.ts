import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contentOf, eachInDirectory, ServerProcess, start, startWithFiles } from "./testing/server-process.ts";

// The process itself, as an operator starts it: what `main.test.ts` leaves out.

const directory = eachInDirectory();

test("operators are answered beside clients, and a line says where", async () => {
  const file = join(directory(), "zoo.cfg");
  const className = "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
  writeFileSync(file, `dataDir=${directory()}/data\n${className}\nmetricsProvider.httpPort=0\n`);
  const server = new ServerProcess([file, "--port", "0", "--set", "admin.serverPort=0"]);
  await server.ready();
  const admin = /answered on (http:[^ ]*:\d+)\/commands,/.exec(server.output)?.[1];
  const metrics = /metrics are answered on port (\d+)/.exec(server.output)?.[1];
  const get = async (url: string): Promise<string> => await (await fetch(url)).text();
  expect(await get(`${admin}/readyz`)).toContain("readyz check passed");
  expect(await get(`${admin}/commands/icfg`)).toContain(`"initial_configuration" : "dataDir=${directory()}`);
  expect(await get(`http://127.0.0.1:${metrics}/metrics`)).toContain("\nznode_count 5\n");
  const without = start("--data", join(directory(), "other"), "--set", "admin.enableServer=false");
  await without.ready();
  expect(without.output).not.toContain("answered on");
});

test("a connection that is open does not hold up a stop", async () => {
  const server = start();
  const socket = connect({ port: await server.ready(), host: "127.0.0.1" });
  await once(socket, "connect");
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  socket.destroy();
});

test("a second signal ends it at once", async () => {
  const server = start();
  await server.ready();
  server.kill("SIGTERM");
  server.kill("SIGTERM");
  const [status, signal] = await server.ended();
  // Both may arrive as one, the stop may be over before the second, and the second may meet a
  // process that is ending already.
  expect([0, 1, "SIGTERM"]).toContain(status ?? signal);
});

describe("what keeps it from starting is one sentence, a status of its own, and no change on disk", () => {
  test("a data directory that is a file", async () => {
    writeFileSync(join(directory(), "data"), "mine");
    const before = contentOf(directory());
    const server = start();
    expect(await server.ended()).toEqual([7, null]);
    expect(server.failures()).toEqual([expect.stringContaining(" cannot be used: ")]);
    expect(contentOf(directory())).toEqual(before);
  });

  test("a data directory that Apache ZooKeeper keeps", async () => {
    mkdirSync(join(directory(), "data", "version-2"), { recursive: true });
    writeFileSync(join(directory(), "data", "version-2", "snapshot.0"), "ZKSN");
    const before = contentOf(directory());
    const server = start();
    expect(await server.ended()).toEqual([22, null]);
    expect(server.failures()).toEqual([
      expect.stringMatching(/ is not this server's: .*; nothing was changed; to take the data over/),
    ]);
    expect(contentOf(directory())).toEqual(before);
  });

  test("a log that is damaged", async () => {
    const first = start();
    await first.ready();
    first.kill("SIGTERM");
    await first.ended();
    writeFileSync(join(directory(), "data", "log.db"), "no database, but long enough to be one".repeat(500));
    const before = contentOf(directory());
    const server = start();
    const [status] = await server.ended();
    expect([21, 22]).toContain(status);
    expect(server.failures()).toHaveLength(1);
    expect(contentOf(directory())).toEqual(before);
  });
});

test("clients that take all files of the process are refused, and those who are there continue", async () => {
  const settings = ["maxClientCnxns=0", "4lw.commands.whitelist=*", "nio.sessionlessCnxnTimeout=60000"];
  const server = startWithFiles(160, ...settings.flatMap((setting) => ["--set", setting]));
  const port = await server.ready();
  const early = connect({ port, host: "127.0.0.1" });
  // Half a word keeps it waiting.
  early.write("ru");
  const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
  const silent = Array.from({ length: 200 }, () =>
    connect({ port, host: "127.0.0.1" }).on("error", () => {
      // A reset is how one is refused.
      refuse();
    }),
  );
  await refused;
  early.write("ok");
  const [answer] = await once(early, "data");
  expect(String(answer)).toBe("imok");
  for (const socket of silent) socket.destroy();
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.output).toContain("the limit of open files");
});

test("a data directory in use keeps a server from starting, with a status of its own", async () => {
  const first = start();
  await first.ready();
  const second = start();
  expect(await second.ended()).toEqual([3, null]);
  expect(second.failures()).toEqual([expect.stringMatching(/ is in use by process \d+/)]);
});

test("init-secret writes a secret for its owner alone, and never over another file", async () => {
  const first = new ServerProcess(["init-secret", "secret"]);
  expect(await first.ended()).toEqual([0, null]);
  const file = join(directory(), "secret");
  expect(first.output).toContain(`wrote a new secret to ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const content = readFileSync(file, "utf8");
  expect(content).toMatch(/^[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/);
  expect(first.output).not.toContain(content.slice(9, 20));
  const second = new ServerProcess(["init-secret", "secret"]);
  expect(await second.ended()).toEqual([2, null]);
  expect(second.errors).toContain("it exists, and a secret is not written over");
  expect(readFileSync(file, "utf8")).toBe(content);
});

test("status prints the mode and ends with 0 while clients are served, with 1 afterwards, and with 2 without a configuration", async () => {
  const server = start();
  const port = await server.ready();
  const asked = ["status", "--port", `${port}`, "--set", "admin.enableServer=false"];
  const found = new ServerProcess(asked);
  expect(await found.ended()).toEqual([0, null]);
  expect(found.output).toMatch(
    /^Client port found: \d+\. Client address: 127\.0\.0\.1\. Client SSL: false\.\nMode: standalone\n$/,
  );
  server.kill("SIGTERM");
  await server.ended();
  const gone = new ServerProcess(asked);
  expect(await gone.ended()).toEqual([1, null]);
  const unreadable = new ServerProcess(["status", "absent.cfg"]);
  expect(await unreadable.ended()).toEqual([2, null]);
});
