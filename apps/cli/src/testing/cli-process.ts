/** The process itself, as people and scripts start it. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Transcript } from "./transcript.ts";

const BIN = fileURLToPath(new URL("../../bin/zooid-cli", import.meta.url));

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

export class CliProcess extends Transcript {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;

  constructor(argv: readonly string[], directory: string | undefined) {
    super();
    this.child = spawn(BIN, argv, { cwd: directory, env: { ...process.env, TZ: "UTC" } });
    this.child.stdin.on("error", () => undefined);
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.toStdout(text));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => this.toStderr(text));
    this.ended = once(this.child, "close").then(([status]) => {
      this.end();
      return { stdout: this.stdout, stderr: this.stderr, status };
    });
  }
}

/** Starts processes, and ends those that a test leaves. */
export class CliProcesses {
  readonly #server: () => string;
  readonly #directory: () => string | undefined;
  readonly #running: CliProcess[] = [];

  /** Both are asked for when something starts. */
  constructor(server: () => string, directory: () => string | undefined = () => undefined) {
    this.#server = server;
    this.#directory = directory;
  }

  /** Starts it at the test's server; a `-server` of its own comes behind and counts. */
  start(...argv: readonly string[]): CliProcess {
    const cli = new CliProcess(["-server", this.#server(), ...argv], this.#directory());
    this.#running.push(cli);
    return cli;
  }

  async run(...argv: readonly string[]): Promise<Ended> {
    return await this.script([], ...argv);
  }

  async script(lines: readonly string[], ...argv: readonly string[]): Promise<Ended> {
    const cli = this.start(...argv);
    cli.child.stdin.end(lines.map((line) => `${line}\n`).join(""));
    return await cli.ended;
  }

  kill(): void {
    for (const { child } of this.#running.splice(0)) child.kill("SIGKILL");
  }
}
