import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { ROOT } from "./public-packages.ts";
import type { Tarball } from "./tarball.ts";

/** A server that was asked to stop has 5 s for that. */
const STOP_DEADLINE_MS = 20_000;
/** A scenario takes some twenty seconds, and more on a busy machine. */
const FOREIGN_MS_MAX = 600_000;
const READY = /serves ZooKeeper clients on [^ ]*:(\d+),.* process (\d+)/;

export interface AppReport {
  /** From the start of npx to the line that reports readiness. */
  readonly readyMs: number;
  readonly outside: readonly string[];
}

export interface AppCheckOptions extends ConsumerOptions {
  /** Clients of others whose scenarios the installed server must answer as Apache's did. */
  readonly foreign: readonly string[];
}

/**
 * Installs the applications from their tarballs in an empty folder, and runs them by npx: the
 * command line and the load generator at the server, which then stops on a signal.
 *
 * @throws with what failed first
 */
export async function checkApps(apps: readonly Tarball[], options: AppCheckOptions): Promise<AppReport> {
  const consumer = new Consumer(options);
  await consumer.install(apps.map(({ file }) => file));
  const outside = consumer.installed().filter((name) => !name.startsWith("@zooid/") && !name.startsWith("zooid-"));
  await using server = await InstalledServer.start(consumer);
  const hosts = `127.0.0.1:${server.port}`;

  const created = await consumer.npx("zooid-cli", "--json", "-server", hosts, "create", "/packed", "from a tarball");
  expectJson(created, { path: "/packed" });
  expectJson(await consumer.npx("zooid-cli", "--json", "-server", hosts, "get", "/packed"), { data: "from a tarball" });
  const bench = ["--hosts", hosts, "read-ratio", "--ratio", "50", "--duration", "1s", "--warmup", "0s"];
  const measured = JSON.parse(await consumer.npx("zooid-bench", ...bench, "--json", "-", "--quiet")) as object;
  if (Object.keys(measured).length === 0) throw new Error("zooid-bench has measured nothing");
  for (const client of options.foreign) await runForeign(client, consumer);
  await server.stop();
  return { readyMs: server.readyMs, outside };
}

function expectJson(text: string, expected: Readonly<Record<string, unknown>>): void {
  const found = JSON.parse(text) as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(expected)) {
    if (found[name] !== value) throw new Error(`zooid-cli: ${name} is ${JSON.stringify(value)}, found ${text.trim()}`);
  }
}

/**
 * The scenario of a foreign client, whose transcript on Apache ZooKeeper is kept, at servers of
 * this installation.
 */
async function runForeign(client: string, consumer: Consumer): Promise<void> {
  const tool = join(ROOT, "packages/conformance/src/foreign.ts");
  const args = ["--conditions=@zooid/source", tool, "--client", client, "--against", "zooid"];
  const env = {
    ...consumer.environment,
    ZOOID_SERVER: join(consumer.directory, "node_modules/.bin/zooid-server"),
    CI: "true",
  };
  await run(process.execPath, args, ROOT, env, FOREIGN_MS_MAX);
}

class InstalledServer implements AsyncDisposable {
  readonly port: number;
  readonly readyMs: number;
  readonly #npx: ChildProcess;
  readonly #closed: Promise<number | null>;
  readonly #pid: number;

  private constructor(
    npx: ChildProcess,
    closed: Promise<number | null>,
    facts: { port: number; pid: number; readyMs: number },
  ) {
    this.#npx = npx;
    this.#closed = closed;
    this.port = facts.port;
    this.readyMs = facts.readyMs;
    this.#pid = facts.pid;
  }

  static async start(consumer: Consumer): Promise<InstalledServer> {
    const startMs = performance.now();
    const npx = spawn("npx", ["--no-install", "zooid-server", "--port", "0", "--set", "admin.serverPort=0"], {
      cwd: consumer.directory,
      env: consumer.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = new Promise<number | null>((resolve, reject) => {
      npx.once("error", reject);
      npx.once("close", (status) => resolve(status));
    });
    const { promise: ready, resolve } = Promise.withResolvers<RegExpExecArray>();
    let output = "";
    const read = (chunk: Buffer): void => {
      output += chunk;
      const match = READY.exec(output);
      if (match !== null) resolve(match);
    };
    npx.stdout.on("data", read);
    npx.stderr.on("data", read);
    const match = await Promise.race([ready, closed]);
    if (match === null || typeof match === "number") throw new Error(`npx zooid-server ended: ${output.trim()}`);
    const [, port, pid] = match;
    return new InstalledServer(npx, closed, {
      port: Number(port),
      pid: Number(pid),
      readyMs: performance.now() - startMs,
    });
  }

  /** @throws when the server does not end with status 0 after SIGTERM */
  async stop(): Promise<void> {
    process.kill(this.#pid, "SIGTERM");
    const late = AbortSignal.timeout(STOP_DEADLINE_MS);
    const status = await Promise.race([
      this.#closed,
      new Promise<string>((resolve) => late.addEventListener("abort", () => resolve("none in time"))),
    ]);
    if (status !== 0) throw new Error(`zooid-server's status after SIGTERM is 0, found ${status}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#npx.exitCode !== null || this.#npx.signalCode !== null) return;
    process.kill(this.#pid, "SIGKILL");
    await this.#closed;
  }
}
