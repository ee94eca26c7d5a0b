/** Starts standalone servers as processes on loopback, on free ports. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { lastSettings } from "@zooid/model/testing/last-settings";
import { freePort, freePorts } from "@zooid/wire/testing/free-ports";
import { LoggedProcess, logOf, logTailOf } from "./logged-process.ts";

/**
 * The kind of server: `zooid-follower` is one of three voters with an observer, `zooid-observer`
 * one of two besides five voters, connected to a follower.
 */
export type EndpointKind = "apache" | "zooid" | "zooid-follower" | "zooid-observer";

export interface Endpoint extends AsyncDisposable {
  readonly kind: EndpointKind;
  readonly port: number;
  /** The port of its admin server; 0 for a member of an ensemble, which has none. */
  readonly adminPort: number;
}

export const ROOT: string = resolve(import.meta.dirname, "../../../..");
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const POLL_MS = 20;
const PORT_TRIES = 5;
const PORT_TAKEN = /is taken by another process|Address already in use/;

/**
 * One server with a folder of its own, which is deleted when it is disposed of.
 *
 * @param jars folder of Apache's jars; needed for `apache` only
 * @param settings further lines of zoo.cfg; Apache gets them as properties too, since it reads some
 *   only there
 * @param jvmFlags further arguments of the virtual machine, for ours where operators have them, in
 *   SERVER_JVMFLAGS
 */
export async function startEndpoint(
  kind: EndpointKind,
  jars?: string,
  settings: readonly string[] = [],
  jvmFlags: readonly string[] = [],
): Promise<Endpoint> {
  if (kind === "zooid-follower" || kind === "zooid-observer") return await startMember(kind, settings);
  const folder = mkdtempSync(join(tmpdir(), `conformance-${kind}-`));
  const properties = [...settings.map((line) => `-D${line}`), ...jvmFlags];
  const adminPort = await freePort();
  const admin = ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", `admin.serverPort=${adminPort}`];
  const server = new ServerProcess({
    kind,
    folder,
    properties,
    settings: [...admin, ...settings],
    ...(kind === "zooid" && jvmFlags.length > 0 ? { env: { SERVER_JVMFLAGS: jvmFlags.join(" ") } } : {}),
    ...(jars === undefined ? {} : { jars }),
  });
  await server.start();
  return {
    kind,
    port: server.port,
    adminPort,
    async [Symbol.asyncDispose](): Promise<void> {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface ServerOptions {
  readonly kind: EndpointKind;
  /** Contains zoo.cfg, the log, and the data below `data`; its creator deletes it. */
  readonly folder: string;
  readonly jars?: string;
  /** Maximum heap of Apache's server, in Java's notation. Default 512m. */
  readonly heap?: string;
  /** Further arguments of Apache's virtual machine. */
  readonly properties?: readonly string[];
  /** Added to the environment of the process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further lines of its zoo.cfg. */
  readonly settings?: readonly string[];
  /** Its number in an ensemble. */
  readonly sid?: number;
  /** For clients. Default: a new one for each start. */
  readonly port?: number;
}

/**
 * Starts an ensemble of ours and waits until all of it serves; the endpoint is one of its learners.
 */
async function startMember(
  kind: "zooid-follower" | "zooid-observer",
  further: readonly string[] = [],
): Promise<Endpoint> {
  const folder = mkdtempSync(join(tmpdir(), `conformance-${kind}-`));
  const [voters, all] = kind === "zooid-observer" ? [5, 7] : [3, 4];
  const sids = Array.from({ length: all }, (_, i) => i + 1);
  const [masterPort = 0, ...ports] = await freePorts(1 + 2 * sids.length);
  // One port for all followers takes an address for each.
  const isByFollowers = kind === "zooid-observer";
  const settings = [
    ...further,
    "initLimit=10",
    "syncLimit=5",
    ...(isByFollowers ? [`observerMasterPort=${masterPort}`] : []),
    ...sids.map((sid, i) => {
      const role = sid > voters ? "observer" : "participant";
      return `server.${sid}=127.0.0.${isByFollowers ? sid : 1}:${ports[2 * i]}:${ports[2 * i + 1]}:${role}`;
    }),
  ];
  const servers = sids.map((sid) => {
    const own = join(folder, String(sid));
    mkdirSync(own, { recursive: true });
    return new ServerProcess({ kind: "zooid", folder: own, settings, sid });
  });
  const dispose = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
    const wanted = kind === "zooid-observer" ? "Mode: observer" : "Mode: follower";
    for (const { port } of servers) {
      if ((await fourLetterWord(port, "srvr")).includes(wanted))
        return { kind, port, adminPort: 0, [Symbol.asyncDispose]: dispose };
    }
    throw new Error(`no server says "${wanted}"`);
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * A server that can be started, killed and started again on the same data. Every start uses a new
 * port.
 */
export class ServerProcess implements AsyncDisposable {
  readonly dataDir: string;
  readonly #options: ServerOptions;
  #process: LoggedProcess | undefined;
  #port = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.dataDir = join(options.folder, "data");
    mkdirSync(this.dataDir, { recursive: true });
    this.writeNumber();
  }

  /** Writes `myid`, for a member of an ensemble. */
  writeNumber(): void {
    const { sid } = this.#options;
    if (sid !== undefined) writeFileSync(join(this.dataDir, "myid"), `${sid}\n`);
  }

  /** Before a start, the one that it was given. */
  get port(): number {
    return this.#port === 0 ? (this.#options.port ?? 0) : this.#port;
  }

  /** The running process. */
  get pid(): number {
    if (this.#process === undefined) throw new Error("the server was not started");
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning ?? false;
  }

  /** How it stands, for messages. */
  get state(): string {
    return this.#process?.state ?? "never started";
  }

  /** @throws with the end of its log if the server does not serve */
  async start(): Promise<void> {
    for (let triesLeft = PORT_TRIES; ; ) {
      await this.launch();
      try {
        await this.#untilServing();
        return;
      } catch (cause) {
        await this.kill();
        // Another process may have taken the port after it was chosen.
        if (--triesLeft > 0 && PORT_TAKEN.test(this.logTail())) continue;
        throw new Error(`${this.#options.kind} does not serve; its log ends with:\n${this.logTail()}`, { cause });
      }
    }
  }

  /** Starts the process without waiting for it to serve. */
  async launch(): Promise<void> {
    const { folder } = this.#options;
    this.#port = this.#options.port ?? (await freePort());
    const { settings = [] } = this.#options;
    const lines = lastSettings([...zooCfg({ port: this.#port, dataDir: this.dataDir }), ...settings]);
    writeFileSync(join(folder, "zoo.cfg"), lines);
    this.launchAgain();
  }

  /**
   * Starts the process with the zoo.cfg that it has, which a server rewrites at a reconfiguration.
   */
  launchAgain(): void {
    const { kind, folder } = this.#options;
    const configFile = join(folder, "zoo.cfg");
    this.#process = spawnServer(kind === "apache" ? "apache" : "zooid", { ...this.#options, configFile });
  }

  async kill(): Promise<void> {
    await this.#process?.end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Asks it to stop, and kills it if it does not. */
  async stop(): Promise<void> {
    await this.#process?.end("SIGTERM", STOP_DEADLINE_MS);
  }

  log(): string {
    return logOf(this.#options.folder);
  }

  logTail(): string {
    return logTailOf(this.#options.folder);
  }

  async #untilServing(): Promise<void> {
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!(await this.#isServing())) {
      if (!this.isRunning) throw new Error("the process ended");
      if (Date.now() > deadline) throw new Error(`no answer within ${START_DEADLINE_MS} ms`);
      await delay(POLL_MS);
    }
  }

  /**
   * Whether this server serves on the port: another process may have taken it after it was chosen.
   */
  async #isServing(): Promise<boolean> {
    if (!(await fourLetterWord(this.#port, "srvr")).includes("Mode:")) return false;
    return (await fourLetterWord(this.#port, "conf")).includes(this.dataDir);
  }
}

export interface SpawnOptions extends Pick<ServerOptions, "jars" | "heap" | "properties" | "env"> {
  /** Its working directory, with `logback.xml`; gets `server.log`. */
  readonly folder: string;
  readonly configFile: string;
}

/** Starts the process of a server, which does not outlive this one. */
export function spawnServer(kind: "apache" | "zooid", options: SpawnOptions): LoggedProcess {
  const { folder, configFile, env } = options;
  writeFileSync(join(folder, "logback.xml"), LOGBACK);
  return new LoggedProcess(kind === "apache" ? apacheCommand(options) : [ZOOID_SERVER, configFile], { folder, env });
}

function apacheCommand({ folder, jars, heap = "512m", properties = [], configFile }: SpawnOptions): readonly string[] {
  if (jars === undefined) throw new Error("Apache's server needs its jars");
  const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  return ["java", `-Xmx${heap}`, ...properties, "-cp", `${folder}${delimiter}${jars}/*`, main, configFile];
}

/** Set ZOOID_SERVER to try another build: a command that takes a zoo.cfg. */
export const ZOOID_SERVER: string = process.env["ZOOID_SERVER"] ?? join(ROOT, "node_modules/.bin/zooid-server");

/** The answer of a four-letter word, or an empty string without one. */
export async function fourLetterWord(
  port: number,
  word: string,
  host = "127.0.0.1",
  timeoutMs = 2000,
): Promise<string> {
  const socket = connect({ port, host, timeout: timeoutMs });
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
  });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.on("close", () => close());
  socket.on("error", () => socket.destroy());
  socket.on("timeout", () => socket.destroy());
  socket.on("connect", () => socket.write(word));
  await closed;
  return answer;
}

function zooCfg({ port, dataDir }: { readonly port: number; readonly dataDir: string }): readonly string[] {
  return [
    "tickTime=2000",
    `dataDir=${dataDir}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "maxClientCnxns=0",
    "4lw.commands.whitelist=*",
    "admin.enableServer=false",
  ];
}

/** The logging of Java's servers: warnings, to stdout. */
export const LOGBACK = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{ISO8601} %-5p %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`;
