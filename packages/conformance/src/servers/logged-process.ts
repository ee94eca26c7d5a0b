/** Commands that do not outlive this process, with their output in a file. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const BIN = resolve(import.meta.dirname, "../../../../node_modules/.bin");
const LOG_LINES_SHOWN = 20;

export interface LoggedProcessOptions {
  /** Its working directory, which gets `server.log`. */
  readonly folder: string;
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A command whose output goes to `server.log` in its folder. */
export class LoggedProcess {
  readonly #child: ChildProcess;

  constructor([command = "", ...args]: readonly string[], { folder, env = {} }: LoggedProcessOptions) {
    const all = { ...process.env, PATH: `${BIN}${delimiter}${process.env["PATH"] ?? ""}`, ...env };
    const child = spawn(command, args, { cwd: folder, env: all, stdio: ["ignore", "pipe", "pipe"] });
    endWithThis(child);
    const log = createWriteStream(join(folder, "server.log"), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.on("close", () => log.end());
    child.on("error", (error) => log.write(String(error)));
    this.#child = child;
  }

  /** 0 if it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether it runs; false if it could not be started. */
  get isRunning(): boolean {
    return this.pid !== 0 && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its exit status, or the signal that ended it. */
  async ended(): Promise<number | string> {
    if (this.isRunning) await once(this.#child, "exit");
    return this.#ending;
  }

  /** @param killAfterMs after this it is killed if it does not end; default never */
  async end(signal: NodeJS.Signals, killAfterMs?: number): Promise<void> {
    this.signal(signal);
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => this.signal("SIGKILL"), killAfterMs);
    await this.ended();
    clearTimeout(timer);
  }

  /** How it stands, for messages. */
  get state(): string {
    return this.isRunning ? `running as ${this.pid}` : `ended with ${this.#ending}`;
  }

  get #ending(): number | string {
    return this.#child.exitCode ?? this.#child.signalCode ?? "nothing";
  }
}

/** The log of all processes of a folder since the first one. */
export function logOf(folder: string): string {
  const file = join(folder, "server.log");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** The end of that log, for messages. */
export function logTailOf(folder: string): string {
  return logOf(folder).trimEnd().split("\n").slice(-LOG_LINES_SHOWN).join("\n");
}

const started = new Set<ChildProcess>();
let isWatching = false;

/** A server does not outlive the process that started it, however that ends. */
function endWithThis(server: ChildProcess): void {
  if (!isWatching) {
    isWatching = true;
    process.once("exit", () => {
      for (const each of started) each.kill("SIGKILL");
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  }
  started.add(server);
  server.on("close", () => started.delete(server));
}
