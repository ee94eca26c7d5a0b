/** The command line as people and scripts start it, and the same in the test's own process. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../run.ts";
import { Transcript } from "./transcript.ts";

const BIN = fileURLToPath(new URL("../../bin/zooid-cli.cjs", import.meta.url));

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

  /** With these lines on stdin. */
  async script(lines: readonly string[], ...argv: readonly string[]): Promise<Ended> {
    const cli = this.start(...argv);
    cli.child.stdin.end(lines.map((line) => `${line}\n`).join(""));
    return await cli.ended;
  }

  kill(): void {
    for (const { child } of this.#running.splice(0)) child.kill("SIGKILL");
  }
}

/** Command lines in the test's own process, at a server that is asked for when one runs. */
export class CliRuns {
  readonly #server: () => string;

  constructor(server: () => string) {
    this.#server = server;
  }

  async run(...argv: readonly string[]): Promise<Ended> {
    return await this.script([], ...argv);
  }

  /** With these lines on stdin. */
  async script(lines: readonly string[], ...argv: readonly string[]): Promise<Ended> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const transcript = new Transcript();
    stdout.setEncoding("utf8").on("data", (text: string) => transcript.toStdout(text));
    stderr.setEncoding("utf8").on("data", (text: string) => transcript.toStderr(text));
    stdin.end(lines.map((line) => `${line}\n`).join(""));
    const ended = [stdout, stderr].map((stream) => once(stream, "end"));
    const world = { stdin, stdout, stderr, environment: { TZ: "UTC" } };
    const status = await runCommandLine(["-server", this.#server(), ...argv], world);
    stdout.end();
    stderr.end();
    await Promise.all(ended);
    return { stdout: transcript.stdout, stderr: transcript.stderr, status };
  }
}
