import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PeerProcess } from "../../servers/peer-process.ts";
import { compileSystem, JavaProgram } from "../java-program.ts";
import { type EnsembleServer, hostsOf, led, nodesBelow } from "../system-ensemble.ts";
import type { System, SystemPlace } from "../system-run.ts";
import { SystemScript } from "../system-script.ts";

const STEP_RECORDS = 500;
const BROKERS = [1, 2] as const;
const CHROOT = "/kafka";

/**
 * Two brokers of Kafka, while the ensemble's leader is killed, then the controlling broker, and
 * then each server of the ensemble is restarted. Needs java, javac and mvn.
 */
export const KAFKA: System = { name: "kafka", portCount: BROKERS.length, run: runKafka };

interface Broker {
  readonly id: number;
  readonly program: JavaProgram;
}

async function runKafka({ servers, folder, ports }: SystemPlace): Promise<readonly string[]> {
  const classpath = compileSystem("kafka");
  const hosts = hostsOf(servers);
  const addresses = BROKERS.map((id) => `127.0.0.1:${ports[id - 1]}`);
  const brokers = BROKERS.map((id, i) => {
    const own = join(folder, `broker-${id}`);
    mkdirSync(own);
    writeFileSync(join(own, "server.properties"), settingsOf(id, addresses[i] ?? "", hosts, own));
    const logLevel = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";
    const args = ["-Xmx384m", logLevel, "-cp", classpath, "kafka.Kafka", join(own, "server.properties")];
    return { id, program: new JavaProgram(own, args) };
  });
  await led(servers);
  try {
    for (const { program } of brokers) program.start();
    const logLevel = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off";
    const records = new PeerProcess("java", ["-Xmx256m", logLevel, "-cp", classpath, "Records", addresses.join()]);
    try {
      const lines = await scenario(records, servers, brokers);
      const nodes = await nodesBelow(CHROOT, servers, {
        // The controller deletes what it has carried out.
        isPending: (path) => /^\/(admin\/delete_topics|isr_change_notification)\/./.test(path),
        masked: (path) => path.replace(/\d{10}$/, "N"),
      });
      return [...lines, ...nodes];
    } finally {
      await records.kill();
    }
  } finally {
    await Promise.all(brokers.map(({ program }) => program.end()));
  }
}

function settingsOf(id: number, address: string, hosts: string, folder: string): string {
  const settings = {
    "broker.id": id,
    listeners: `PLAINTEXT://${address}`,
    "zookeeper.connect": hosts + CHROOT,
    "zookeeper.session.timeout.ms": 6000,
    "log.dirs": join(folder, "logs"),
    "default.replication.factor": 2,
    "offsets.topic.num.partitions": 3,
    "offsets.topic.replication.factor": 2,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": false,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
  return lines.join("");
}

async function scenario(
  records: PeerProcess,
  servers: readonly EnsembleServer[],
  brokers: readonly Broker[],
): Promise<readonly string[]> {
  const script = new SystemScript(records, servers);
  const { lines } = script;
  const ask = (...words: readonly unknown[]): Promise<void> => script.ask(...words);
  let produced = 0;
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

  await script.killLeader(produce, () => ask("create", "made-without-it", 1, 2));

  lines.push("the controlling broker dies");
  const dead = await script.killHolder("controller", (name) => brokers.find(({ id }) => String(id) === name)?.program);
  await ask("in-sync", "t", 1);
  await produce();
  dead.start();
  await ask("brokers", BROKERS.length);
  await ask("in-sync", "t", 2);

  await script.restartEach(produce);

  await ask("consume", "t", produced);
  await ask("delete", "made-without-it");
  await ask("topics");
  return lines;
}
