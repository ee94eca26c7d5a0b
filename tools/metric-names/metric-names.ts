/**
 * Names of metrics by Prometheus' rules, which `promtool check metrics` has: those of a single
 * server with TLS, a history and a backup, and those of both roles of an ensemble.
 *
 *     npm run tool -- metric-names
 *
 * Names that Apache ZooKeeper chose, or the library, stay as they are; ours keep the rules.
 */
import { mkdirSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import type { StartOptions, ZooidServer } from "@zooid/embedded-server";
import { ask, say } from "@zooid/embedded-server/internal/testing/http";
import { allServe, PATIENT } from "@zooid/embedded-server/internal/testing/patient";
import { startTestServer } from "@zooid/embedded-server/internal/testing/server";
import { Authority } from "@zooid/trials/internal/faults/ensemble-certificates";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { promtool } from "../alerts/promtool.ts";
import { ROOT } from "../pack/public-packages.ts";

const APACHE = readFileSync(join(ROOT, "packages/server/src/admin/apache-metric-types.txt"), "utf8");
const OF_APACHE: ReadonlySet<string> = new Set(
  APACHE.trim()
    .split("\n")
    .map((line) => line.slice(0, line.indexOf(" "))),
);
/** Gauges of prom-client whose names end like a counter's. */
const OF_LIBRARY: ReadonlySet<string> = new Set([
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
]);
const CLEAN = 0;
const COMPLAINTS = 3;

toolOptions({});
using folder = mkdtempDisposableSync(join(tmpdir(), "metric-names-"));
const complaints = new Map<string, string>();
let familyCount = 0;
for (const body of [await ofServerAlone(), ...(await ofMembers())]) {
  familyCount += body.match(/^# TYPE /gm)?.length ?? 0;
  const { status, output } = promtool(["check", "metrics"], body);
  if (status !== CLEAN && status !== COMPLAINTS) throw new Error(`promtool cannot read the metrics: ${output}`);
  for (const line of output.trim().split("\n")) complaints.set(line, line.slice(0, line.indexOf(" ")));
}
const names = new Set(complaints.values());
const ours = [...complaints].filter(([, name]) => !OF_APACHE.has(name) && !OF_LIBRARY.has(name));
const unneeded = [...OF_LIBRARY].filter((name) => !names.has(name));
for (const [line] of ours) console.log(`not by Prometheus' rules: ${line}`);
for (const name of unneeded) console.log(`${name} keeps the rules now: take it out of this tool`);
const isGood = ours.length === 0 && unneeded.length === 0;
console.log(
  isGood
    ? `${familyCount} metrics of 3 servers: ${complaints.size} complaints, all about names of Apache or prom-client`
    : "FAILED",
);
process.exitCode = isGood ? 0 : 1;

async function ofServerAlone(): Promise<string> {
  const [dataDir, target] = ["data", "backup"].map((name) => join(folder.path, name)) as [string, string];
  for (const each of [dataDir, target]) mkdirSync(each);
  const certificate = join(folder.path, "server.pem");
  new Authority(folder.path, "authority").issue(certificate, ["DNS:localhost"]);
  await using server = await started({
    dataDir,
    history: { retainMs: 3_600_000 },
    backup: { target },
    securePort: 0,
    tls: { keyStore: { location: certificate }, clientAuth: "none" },
  });
  // A refusal, so that these have a series.
  await say(server.port, "GET / HTTP/1.1\r\n\r\n");
  return await metricsOf(server);
}

/** A leader's metrics, and a follower's. */
async function ofMembers(): Promise<readonly string[]> {
  const ports = await freePorts(4);
  const servers = [1, 2].map((sid) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * (sid - 1));
    return { sid, host: "127.0.0.1", quorumPort, electionPort };
  });
  await using first = await started({ ensemble: { sid: 1, servers, ...PATIENT } });
  await using second = await started({ ensemble: { sid: 2, servers, ...PATIENT } });
  await allServe([first, second]);
  return [await metricsOf(first), await metricsOf(second)];
}

async function started(options: StartOptions): Promise<ZooidServer> {
  return await startTestServer({ ...options, admin: { port: 0 }, metrics: { port: 0, address: "127.0.0.1" } });
}

async function metricsOf({ metricsPort }: ZooidServer): Promise<string> {
  return (await ask(metricsPort, "/metrics")).body;
}
