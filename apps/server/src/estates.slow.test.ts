import { describe, expect, test } from "vitest";
import { estateFiles, writeEstate } from "./testing/estate-files.ts";
import { ask, eachInDirectory, ServerProcess } from "./testing/server-process.ts";

const directory = eachInDirectory();

/** Those that need no other servers, names or certificates. */
const LIVE = [
  ...["official-single", "bitnami-single", "bitnami-prometheus", "confluent-single", "kafka-distribution"],
  ...["debian", "druid-chart", "pulsar", "nifi", "manual-ttl", "windows-endings", "ansible-hardened"],
];

describe("a server with a file as existing estates have it serves at the first try", () => {
  test.each(estateFiles().filter(({ name }) => LIVE.includes(name)))("$name", async (file) => {
    const config = writeEstate(file, directory());
    const ports = ["--port", "0", "--set", "admin.serverPort=0", "--set", "metricsProvider.httpPort=0"];
    const server = new ServerProcess([config, ...ports]);
    const port = await server.ready();
    expect(await ask(port, "srvr")).toContain("Mode: standalone");
    const told = [...server.output.matchAll(/"msg":"(\S+) \(line \d+/g)].map(([, key]) => key);
    expect(told).toEqual(file.withoutEffect);
    server.kill("SIGTERM");
    expect(await server.ended()).toEqual([0, null]);
  });
});
