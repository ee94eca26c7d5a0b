import { expect, test } from "vitest";
import { ConfigError, parseServerConfig, type ServerOptions } from "../config.ts";

function problemsOf(options: ServerOptions): readonly string[] {
  try {
    parseServerConfig(options);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const own = { sid: 1, host: "127.0.0.1", quorumPort: 2888, electionPort: 3888 };
const ensemble = { sid: 1, servers: [own] };
const metrics = { address: "127.0.0.1", port: 2181 };

test.each<[string, ServerOptions, string]>([
  ["admin port", { port: 8080, admin: { port: 8080 } }, "clientPort and admin.serverPort are both 127.0.0.1:8080"],
  ["metrics port", { port: 2181, metrics }, "clientPort and metricsProvider.httpPort are both 127.0.0.1:2181"],
  [
    "metrics port on every address",
    { port: 7000, metrics: {} },
    "clientPort and metricsProvider.httpPort are both 127.0.0.1:7000",
  ],
  [
    "admin and metrics port",
    { admin: { port: 7000 }, metrics: {} },
    "admin.serverPort and metricsProvider.httpPort are both 127.0.0.1:7000",
  ],
  ["client port and peers", { port: 3888, ensemble }, "clientPort and the election port of server.1 are both"],
  [
    "metrics and peers",
    { metrics: { port: 2888 }, ensemble },
    "metricsProvider.httpPort and the quorum port of server.1",
  ],
  [
    "observer master port",
    { port: 2191, ensemble: { ...ensemble, observerMasterPort: 2191 } },
    "clientPort and observerMasterPort are both",
  ],
])("two ports of this server with one number are a problem: %s", (_, options, problem) => {
  expect(problemsOf(options)).toEqual([expect.stringContaining(problem)]);
});

test.each<[string, ServerOptions]>([
  ["that the system chooses", { port: 0, admin: { port: 0 }, metrics: { port: 0 } }],
  ["on two addresses", { address: "127.0.0.1", port: 2181, metrics: { address: "127.0.0.2", port: 2181 } }],
  ["of which one has a name", { address: "zk-1", port: 2181, metrics }],
  ["of which the admin port's is the default", { port: 8080, admin: {} }],
  [
    "of another server",
    { port: 2888, ensemble: { sid: 2, servers: [own, { ...own, sid: 2, quorumPort: 1, electionPort: 2 }] } },
  ],
])("ports %s collide with none", (_, options) => {
  expect(problemsOf(options)).toEqual([]);
});
