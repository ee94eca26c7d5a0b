/**
 * Runs Kafka on an ensemble of three of Apache ZooKeeper and on one of zooid-server
 * (`kafka-run.ts`). No record may be lost or doubled, and both runs must have the recorded
 * transcript.
 *
 *     npm run tool -- kafka [--against apache|zooid] [--record]
 *
 * It needs java, javac and mvn. `--record` writes Apache ZooKeeper's transcript.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fetchApacheJars } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { ServerProcess } from "../servers/endpoint.ts";
import { eachOf, toolOptions } from "../tool-options.ts";
import { KAFKA_PORT_COUNT, KAFKA_TRANSCRIPT, runKafka } from "./kafka-run.ts";

const options = toolOptions({ against: eachOf(["apache", "zooid"]), record: false });
const kinds = options.record ? (["apache"] as const) : options.against;
const jars = fetchApacheJars();
for (const kind of kinds) {
  const began = performance.now();
  const lines = await transcriptOf(kind);
  console.log(`ran     ${kind}, ${lines.length} lines, ${((performance.now() - began) / 1000).toFixed(0)} s`);
  if (options.record) writeFileSync(KAFKA_TRANSCRIPT, `${lines.join("\n")}\n`);
  const recorded = readFileSync(KAFKA_TRANSCRIPT, "utf8").trimEnd().split("\n");
  const difference = printDiff(recorded, lines);
  if (difference === "") console.log(`same    Kafka on ${kind}`);
  else console.log(`differ  Kafka on ${kind} (- recorded, + now):\n${difference}`);
  if (difference !== "") process.exitCode = 1;
}
process.exit();

async function transcriptOf(kind: "apache" | "zooid"): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), `kafka-${kind}-`));
  const ports = await freePorts(9 + KAFKA_PORT_COUNT);
  const servers = [1, 2, 3].map((sid) => {
    const own = join(folder, `server-${sid}`);
    mkdirSync(own);
    const listed = [1, 2, 3].map((other) => `server.${other}=127.0.0.1:${ports[other - 1]}:${ports[other + 2]}`);
    const settings = [...listed, "initLimit=10", "syncLimit=5"];
    return new ServerProcess({ kind, folder: own, settings, sid, port: ports[sid + 5] ?? 0, jars });
  });
  try {
    for (const server of servers) await server.launch();
    return await runKafka({ servers, folder, ports: ports.slice(9) });
  } catch (error) {
    for (const server of servers) console.log(server.logTail());
    throw error;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}
