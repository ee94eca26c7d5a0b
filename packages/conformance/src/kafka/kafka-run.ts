import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, ZkError } from "@zooid/client";
import { fourLetterWord, ROOT } from "../servers/endpoint.ts";
import { PeerProcess } from "../servers/peer-process.ts";
import { Broker } from "./kafka-broker.ts";

const SOURCES = resolve(import.meta.dirname, "../../clients/kafka");
const SERVING_DEADLINE_MS = 60_000;
const CONTROLLER_DEADLINE_MS = 60_000;
const STEP_RECORDS = 500;
const BROKERS = [1, 2] as const;

/** What Kafka does on Apache ZooKeeper, as `npm run tool -- kafka --record` writes it. */
export const KAFKA_TRANSCRIPT: string = resolve(import.meta.dirname, "../../transcripts/kafka.txt");
/** How many ports {@link runKafka} needs. */
export const KAFKA_PORT_COUNT: number = BROKERS.length;

/** A server of the ensemble that Kafka runs on: a process, or a container. */
export interface KafkaEnsembleServer {
  /** The ports for clients. */
  readonly port: number;
  launch(): Promise<void>;
  /** Without warning. */
  kill(): Promise<void>;
  /** As an operator asks for it. */
  stop(): Promise<void>;
}

export interface KafkaPlace {
  /** Running servers; they run on afterwards. */
  readonly servers: readonly KafkaEnsembleServer[];
  /** For the brokers; the caller deletes it. */
  readonly folder: string;
  readonly ports: readonly number[];
}

/**
 * Runs two brokers of Kafka through the death of the ensemble's leader, the death of the
 * controlling broker and a restart of each server of the ensemble. Needs java, javac and mvn.
 *
 * @returns what Kafka's clients saw and the nodes that are left, a line each
 */
export async function runKafka({ servers, folder, ports }: KafkaPlace): Promise<readonly string[]> {
  const classpath = compile();
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join();
  const brokers = BROKERS.map((id) => new Broker(id, { classpath, folder, hosts, port: ports[id - 1] ?? 0 }));
  await led(servers);
  try {
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
  } finally {
    await Promise.all(brokers.map((broker) => broker.end("SIGKILL")));
  }
}

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

async function scenario(
  records: PeerProcess,
  servers: readonly KafkaEnsembleServer[],
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
async function led(servers: readonly KafkaEnsembleServer[]): Promise<KafkaEnsembleServer> {
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

/**
 * All nodes, with the numbers of sequential ones masked, once no change of them is left to be made.
 */
async function nodesOf(hosts: string): Promise<readonly string[]> {
  await using client = await connect(`${hosts}/kafka`);
  const deadline = performance.now() + SERVING_DEADLINE_MS;
  for (;;) {
    const paths = await walk(client);
    // The controller deletes what it has carried out.
    const isPending = (path: string): boolean => /^\/(admin\/delete_topics|isr_change_notification)\/./.test(path);
    if (paths !== undefined && !paths.some(isPending)) return [...new Set(paths)];
    if (performance.now() > deadline) throw new Error(`changes are still to be made: ${paths?.filter(isPending)}`);
    await delay(200);
  }
}

/** Undefined when a node went meanwhile. */
async function walk(client: Client): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  const visit = async (path: string): Promise<void> => {
    paths.push(path.replace(/\d{10}$/, "N"));
    const { names } = await client.children(path);
    for (const name of names.toSorted()) await visit(path === "/" ? `/${name}` : `${path}/${name}`);
  };
  try {
    await visit("/");
    return paths;
  } catch (error) {
    if (error instanceof ZkError && error.code === "NO_NODE") return undefined;
    throw error;
  }
}
