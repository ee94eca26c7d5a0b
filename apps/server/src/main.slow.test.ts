import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
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
  // Both may arrive as one, the stop may be over before the second, and the second may meet a process that is ending already.
  expect([0, 1, "SIGTERM"]).toContain(status ?? signal);
});

describe("what keeps it from starting is one sentence, a status of its own, and no change on disk", () => {
  test("a data directory that is a file", async () => {
    writeFileSync(join(directory(), "data"), "mine");
    const before = contentOf(directory());
    const server = start();
    expect(await server.ended()).toEqual([7, null]);
    expect(server.errors).toMatch(/^zooid-server: [^\n]* cannot be used: [^\n]*\n$/);
    expect(contentOf(directory())).toEqual(before);
  });

  test("a data directory that Apache ZooKeeper keeps", async () => {
    mkdirSync(join(directory(), "data", "version-2"), { recursive: true });
    writeFileSync(join(directory(), "data", "version-2", "snapshot.0"), "ZKSN");
    const before = contentOf(directory());
    const server = start();
    expect(await server.ended()).toEqual([22, null]);
    expect(server.errors).toMatch(
      /^zooid-server: [^\n]* is not this server's: [^\n]*; nothing was changed; to take the data over[^\n]*\n$/,
    );
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
    expect(server.errors).toMatch(/^zooid-server: [^\n]*\n$/);
    expect(contentOf(directory())).toEqual(before);
  });
});

test("clients that take all files of the process are refused, and those who are there go on", async () => {
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
