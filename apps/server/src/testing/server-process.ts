import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";

/** The process itself, as an operator starts it. */

export const BIN: string = fileURLToPath(new URL("../../bin/zooid-server.cjs", import.meta.url));
const DEADLINE_MS = 50_000;

let directory = "";
const running: ServerProcess[] = [];

/** Gives each test a directory of its own, and ends what it leaves. Returns where that is. */
export function eachInDirectory(): () => string {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "zooid-main-"));
  });
  afterEach(async () => {
    for (const one of running.splice(0)) {
      one.kill("SIGKILL");
      await one.ended();
    }
    rmSync(directory, { recursive: true, force: true });
  });
  return () => directory;
}

export class ServerProcess {
  output = "";
  errors = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<readonly [status: number | null, signal: string | null]>;

  constructor(argv: readonly string[], command: readonly [string, ...string[]] = [BIN]) {
    const [program, ...before] = command;
    this.#child = spawn(program, [...before, ...argv], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.#ended = once(this.#child, "close").then(([status, signal]) => [status, signal] as const);
    running.push(this);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  ended(): Promise<readonly [status: number | null, signal: string | null]> {
    return this.#ended;
  }

  /** The lines of its log that say why it did not start. */
  failures(): readonly string[] {
    return this.output
      .split("\n")
      .filter((line) => line.includes('"event":"start-failed"'))
      .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
  }

  /** The port, once the line that reports readiness came. */
  async ready(): Promise<number> {
    return Number((await this.says(/serves ZooKeeper clients on [^ ]*:(\d+),/))[1]);
  }

  /** Resolves once its output matches. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`its output never matched ${pattern}: ${this.output}${this.errors}`);
      }
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.#ended]);
    }
  }
}

const PORTS = ["--port", "0", "--set", "admin.serverPort=0"];

/** Starts a server on ports of the system's choice. */
export function start(...argv: string[]): ServerProcess {
  return new ServerProcess([...PORTS, "--data", join(directory, "data"), ...argv]);
}

/** Starts a server that may have at most `count` files open. */
export function startWithFiles(count: number, ...argv: string[]): ServerProcess {
  const shell = ["sh", "-c", `ulimit -n ${count}; exec "$0" "$@"`, BIN] as const;
  return new ServerProcess([...PORTS, "--data", join(directory, "data"), ...argv], [...shell]);
}

export async function ask(port: number, word: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.end(word);
  await once(socket, "close");
  return answer;
}

/**
 * Every file below a directory with its content, to see what has changed. A note of who held it
 * does not count.
 */
export function contentOf(path: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const name of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    const file = join(path, name);
    if (name.endsWith("zooid.pid")) continue;
    files.set(
      name,
      statSync(file).isFile() ? createHash("sha256").update(readFileSync(file)).digest("hex") : "directory",
    );
  }
  return files;
}
