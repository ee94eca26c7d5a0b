/** The command as a process, as people start it, and servers for it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BENCH_BIN = fileURLToPath(new URL("../../bin/zooid-bench.cjs", import.meta.url));
export const SERVER_BIN: string = fileURLToPath(new URL("../../../server/bin/zooid-server.cjs", import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

export class TestProcess {
  output = "";
  errors = "";
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(command: string, argv: readonly string[]) {
    this.child = spawn(command, argv, { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.ended = once(this.child, "close").then(([status]) => ({ status, output: this.output, errors: this.errors }));
  }

  /** Resolves when what was written so far, to either side, matches. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.output) ?? pattern.exec(this.errors);
      if (match !== null) return match[1] ?? match[0];
      const { stdout, stderr } = this.child;
      if (this.child.exitCode !== null || stdout === null || stderr === null)
        throw new Error(this.output + this.errors);
      await Promise.race([once(stdout, "data"), once(stderr, "data"), this.ended]);
    }
  }
}

/** Starts processes, and ends those that a test leaves. */
export class BenchProcesses {
  readonly #running = new Set<TestProcess>();

  start(command: string, ...argv: readonly string[]): TestProcess {
    const started = new TestProcess(command, argv);
    this.#running.add(started);
    void started.ended.then(() => this.#running.delete(started));
    return started;
  }

  bench(...argv: readonly string[]): TestProcess {
    return this.start(BENCH_BIN, ...argv);
  }

  /** A server of its own, and where it answers. */
  async server(dataDir: string, ...flags: readonly string[]): Promise<{ server: TestProcess; port: string }> {
    return await this.serverAt(0, dataDir, ...flags);
  }

  async serverAt(
    atPort: number,
    dataDir: string,
    ...flags: readonly string[]
  ): Promise<{ server: TestProcess; port: string }> {
    const server = this.start(SERVER_BIN, "--port", `${atPort}`, "--data", dataDir, ...flags);
    return { server, port: await server.says(/serves ZooKeeper clients on [^ ]*:(\d+),/) };
  }

  async kill(): Promise<void> {
    for (const { child, ended } of this.#running) {
      child.kill("SIGKILL");
      await ended;
    }
  }
}
