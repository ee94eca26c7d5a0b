import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface BrokerPlace {
  /** The directory of Kafka. */
  readonly classpath: string;
  /** In which the broker makes its own folder; the caller deletes it. */
  readonly folder: string;
  /** The ensemble: `HOST:PORT,…`. */
  readonly hosts: string;
  /** The port of the broker, on loopback. */
  readonly port: number;
}

/** A broker in a process of its own, with its settings, data and log in a folder. */
export class Broker {
  readonly id: number;
  readonly address: string;
  readonly #folder: string;
  readonly #classpath: string;
  #process: ChildProcess | undefined;

  constructor(id: number, place: BrokerPlace) {
    this.id = id;
    this.#classpath = place.classpath;
    this.address = `127.0.0.1:${place.port}`;
    this.#folder = join(place.folder, `broker-${id}`);
    mkdirSync(this.#folder);
    const settings = {
      "broker.id": id,
      listeners: `PLAINTEXT://${this.address}`,
      "zookeeper.connect": `${place.hosts}/kafka`,
      "zookeeper.session.timeout.ms": 6000,
      "log.dirs": join(this.#folder, "logs"),
      "default.replication.factor": 2,
      "offsets.topic.num.partitions": 3,
      "offsets.topic.replication.factor": 2,
      "group.initial.rebalance.delay.ms": 0,
      "auto.create.topics.enable": false,
    };
    const text = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
    writeFileSync(join(this.#folder, "server.properties"), text.join(""));
  }

  start(): void {
    const logLevel = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";
    const argv = ["-Xmx384m", logLevel, "-cp", this.#classpath, "kafka.Kafka", join(this.#folder, "server.properties")];
    const child = spawn("java", argv, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(this.#folder, "broker.log"), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.on("close", () => log.end());
    process.once("exit", () => child.kill("SIGKILL"));
    this.#process = child;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}
