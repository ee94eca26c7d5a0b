/**
 * Runs Kafka on an ensemble of three of Apache ZooKeeper and on one of zooid-server: two brokers with
 * their own ZooKeeper settings, through the death of the ensemble's leader, the death of the
 * controlling broker and a rolling restart of the ensemble. No record may be lost or doubled, and
 * both runs must leave the same nodes.
 *
 *     npm run tool -- kafka [--against apache|zooid] [--print]
 *
 * It needs java, javac and mvn.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect } from "@zooid/client";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fetchApacheJars } from "./clients.ts";
import { diffLines, printDiff } from "./diff.ts";
import { fourLetterWord, ROOT, ServerProcess } from "./endpoint.ts";
import { Broker } from "./kafka-broker.ts";
import { PeerProcess } from "./peer-process.ts";

const SOURCES = resolve(import.meta.dirname, "../clients/kafka");
const SERVING_DEADLINE_MS = 60_000;
const CONTROLLER_DEADLINE_MS = 60_000;
const STEP_RECORDS = 500;
const BROKERS = [1, 2] as const;

const { values: options } = parseArgs({
  options: { against: { type: "string", multiple: true }, print: { type: "boolean", default: false } },
});
const kinds = (["apache", "zooid"] as const).filter((kind) => options.against?.includes(kind) ?? true);
const jars = fetchApacheJars();
const classpath = compile();
const transcripts: (readonly string[])[] = [];
for (const kind of kinds) {
  const began = performance.now();
  const lines = await transcriptOf(kind);
  console.log(`ran     ${kind}, ${lines.length} lines, ${((performance.now() - began) / 1000).toFixed(0)} s`);
  if (options.print) console.log(lines.join("\n"));
  transcripts.push(lines);
}
const [theirs, ours] = transcripts;
if (theirs !== undefined && ours !== undefined) {
  const difference = printDiff(diffLines(theirs, ours));
  console.log(difference === "" ? "same    Kafka on both" : `differ  (- Apache ZooKeeper, + Zooid):\n${difference}`);
  if (difference !== "") process.exitCode = 1;
}
process.exit();

/** The class path of Kafka and of our program. */
function compile(): string {
  const folder = join(ROOT, ".cache/kafka");
  const found = join(folder, "jars");
  if (!existsSync(join(found, ".complete"))) {
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${found}`];
    execFileSync("mvn", ["-q", "-B", "-f", join(SOURCES, "pom.xml"), ...goal], { stdio: "inherit" });
    writeFileSync(join(found, ".complete"), "");
  }
  execFileSync("javac", ["-encoding", "UTF-8", "-cp", `${found}/*`, "-d", folder, join(SOURCES, "Records.java")]);
  return `${folder}:${found}/*`;
}

async function transcriptOf(kind: "apache" | "zooid"): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), `kafka-${kind}-`));
  const ports = await freePorts(9 + BROKERS.length);
  const servers = [1, 2, 3].map((sid) => {
    const own = join(folder, `server-${sid}`);
    mkdirSync(own);
    const listed = [1, 2, 3].map((other) => `server.${other}=127.0.0.1:${ports[other - 1]}:${ports[other + 2]}`);
    const settings = [...listed, "initLimit=10", "syncLimit=5"];
    return new ServerProcess({ kind, folder: own, settings, sid, port: ports[sid + 5] ?? 0, jars });
  });
  const hosts = servers.map((_, index) => `127.0.0.1:${ports[index + 6]}`).join();
  const brokers = BROKERS.map((id) => new Broker(id, { classpath, folder, hosts, port: ports[8 + id] ?? 0 }));
  try {
    for (const server of servers) await server.launch();
    await led(servers);
    for (const broker of brokers) broker.start();
    const addresses = brokers.map(({ address }) => address).join();
    const logLevel = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off";
    const records = new PeerProcess("java", ["-Xmx256m", logLevel, "-cp", classpath, "Records", addresses]);
    try {
      const lines = await scenario(records, servers, brokers);
      return [...lines, ...(await nodesOf(hosts))];
    } finally {
      await records.kill();
    }
  } catch (error) {
    for (const server of servers) console.log(server.logTail());
    throw error;
  } finally {
    await Promise.all(brokers.map((broker) => broker.end("SIGKILL")));
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function scenario(
  records: PeerProcess,
  servers: readonly ServerProcess[],
  brokers: readonly Broker[],
): Promise<readonly string[]> {
  const lines: string[] = [];
  let produced = 0;
  const ask = async (...words: readonly unknown[]): Promise<string> => {
    const answer = await records.ask(...words);
    lines.push(`${words.join(" ")}: ${answer}`);
    return answer;
  };
  const produce = async (): Promise<void> => {
    await ask("produce", "t", produced, STEP_RECORDS);
    produced += STEP_RECORDS;
  };

  await ask("brokers", BROKERS.length);
  await ask("create", "t", 3, 2);
  await ask("in-sync", "t", 2);
  await produce();
  await ask("configure", "t", "retention.ms", 123_456_789);
  await ask("widen", "t", 5);
  await ask("in-sync", "t", 2);

  lines.push("the ensemble's leader dies");
  const leader = await led(servers);
  await leader.kill();
  await produce();
  await led(servers.filter((server) => server !== leader));
  await ask("create", "made-without-it", 1, 2);
  await leader.launch();
  await led(servers);

  lines.push("the controlling broker dies");
  const before = await records.ask("controller");
  const controlling = brokers.find(({ id }) => String(id) === before);
  if (controlling === undefined) throw new Error(`no broker controls: ${before}`);
  await controlling.end("SIGKILL");
  const deadline = performance.now() + CONTROLLER_DEADLINE_MS;
  for (let after = before; after === before || after.startsWith("failed"); after = await records.ask("controller")) {
    if (performance.now() > deadline) throw new Error(`broker ${before} died, and still controls`);
    await delay(200);
  }
  await ask("in-sync", "t", 1);
  await produce();
  controlling.start();
  await ask("brokers", BROKERS.length);
  await ask("in-sync", "t", 2);

  for (const [index, server] of servers.entries()) {
    lines.push(`server ${index + 1} of the ensemble restarts`);
    await server.stop();
    await produce();
    await server.launch();
    await led(servers);
  }

  await ask("consume", "t", produced);
  await ask("delete", "made-without-it");
  await ask("topics");
  return lines;
}

/** The leader, when every server serves. */
async function led(servers: readonly ServerProcess[]): Promise<ServerProcess> {
  const deadline = performance.now() + SERVING_DEADLINE_MS;
  for (;;) {
    const modes = await Promise.all(
      servers.map(async ({ port }) => /^Mode: (\w+)/m.exec(await fourLetterWord(port, "srvr"))?.[1]),
    );
    const leader = servers[modes.indexOf("leader")];
    if (leader !== undefined && modes.every((mode) => mode === "leader" || mode === "follower")) return leader;
    if (performance.now() > deadline) throw new Error(`the servers are ${modes.join(", ")}`);
    await delay(100);
  }
}

/** All nodes, with the numbers of sequential ones masked, once no change of them is left to be made. */
async function nodesOf(hosts: string): Promise<readonly string[]> {
  await using client = await connect(`${hosts}/kafka`);
  const deadline = performance.now() + SERVING_DEADLINE_MS;
  for (;;) {
    const paths: string[] = [];
    const visit = async (path: string): Promise<void> => {
      paths.push(path.replace(/\d{10}$/, "N"));
      const { names } = await client.children(path);
      for (const name of names.toSorted()) await visit(path === "/" ? `/${name}` : `${path}/${name}`);
    };
    await visit("/");
    // The controller deletes what it has carried out.
    const isPending = (path: string): boolean => /^\/(admin\/delete_topics|isr_change_notification)\/./.test(path);
    if (!paths.some(isPending)) return [...new Set(paths)];
    if (performance.now() > deadline)
      throw new Error(`changes are still to be made: ${paths.filter(isPending).join()}`);
    await delay(200);
  }
}
