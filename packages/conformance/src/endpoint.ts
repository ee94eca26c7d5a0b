/** Starts one standalone server on loopback, on a port of the system's choice and with data of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type EndpointKind = "apache" | "zooid";

export interface Endpoint extends AsyncDisposable {
  readonly kind: EndpointKind;
  readonly port: number;
}

export const ROOT: string = resolve(import.meta.dirname, "../../..");
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const POLL_MS = 50;

/** @param jars folder of Apache's jars; needed for `apache` only */
export async function startEndpoint(kind: EndpointKind, jars?: string): Promise<Endpoint> {
  const folder = mkdtempSync(join(tmpdir(), `conformance-${kind}-`));
  const port = await freePort();
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  const configFile = join(folder, "zoo.cfg");
  writeFileSync(configFile, zooCfg({ port, dataDir }));
  writeFileSync(join(folder, "logback.xml"), LOGBACK);
  const process = kind === "apache" ? apache({ folder, configFile, jars }) : zooid(configFile);
  const log = createWriteStream(join(folder, "server.log"));
  process.stdout?.pipe(log, { end: false });
  process.stderr?.pipe(log, { end: false });
  try {
    await untilServing(process, port);
  } catch (cause) {
    await stop(process);
    throw new Error(`${kind} does not serve; its log ends with:\n${tail(join(folder, "server.log"))}`, { cause });
  }
  return {
    kind,
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      await stop(process);
      log.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The answer of a four-letter word, or an empty string when nobody answers. */
export async function fourLetterWord(port: number, word: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", timeout: 2_000 });
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

/** A port that was free a moment ago. Whoever takes it in between makes the start fail with a clear message. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function zooCfg({ port, dataDir }: { readonly port: number; readonly dataDir: string }): string {
  return [
    "tickTime=2000",
    `dataDir=${dataDir}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "maxClientCnxns=0",
    "4lw.commands.whitelist=*",
    "admin.enableServer=false",
    "",
  ].join("\n");
}

const LOGBACK = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{ISO8601} %-5p %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`;

interface ApacheOptions {
  readonly folder: string;
  readonly configFile: string;
  readonly jars: string | undefined;
}

function apache({ folder, configFile, jars }: ApacheOptions): ChildProcess {
  if (jars === undefined) throw new Error("Apache's server needs its jars");
  const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  return spawn("java", ["-Xmx512m", "-cp", `${folder}${delimiter}${jars}/*`, main, configFile], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function zooid(configFile: string): ChildProcess {
  const bin = join(ROOT, "node_modules/.bin");
  const path = `${bin}${delimiter}${process.env["PATH"] ?? ""}`;
  return spawn(join(bin, "zooid-server"), [configFile], {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function untilServing(process: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await fourLetterWord(port, "srvr")).includes("Mode:")) {
    if (process.exitCode !== null || process.signalCode !== null) throw new Error("the process ended");
    if (Date.now() > deadline) throw new Error(`no answer within ${START_DEADLINE_MS} ms`);
    await delay(POLL_MS);
  }
}

async function stop(process: ChildProcess): Promise<void> {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  const timer = setTimeout(() => process.kill("SIGKILL"), STOP_DEADLINE_MS);
  await ended;
  clearTimeout(timer);
}

function tail(file: string): string {
  return readFileSync(file, "utf8").split("\n").slice(-20).join("\n");
}
