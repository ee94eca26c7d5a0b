import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoopReport } from "../measured-server.ts";

/** The superuser of a measured server, and how a client authenticates as it. */
export const SUPER_PASSWORD = "super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

/** A server in a process of its own, whose loop is watched. */
export class MeasuredProcess implements AsyncDisposable {
  readonly port: number;
  readonly adminPort: number;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(process: ChildProcess, folder: string, ports: readonly [number, number]) {
    this.#process = process;
    this.#folder = folder;
    [this.port, this.adminPort] = ports;
  }

  static async start(options: object = {}): Promise<MeasuredProcess> {
    const folder = mkdtempSync(join(tmpdir(), "cost-search-"));
    const settings = { superDigest: SUPER_DIGEST, admin: { port: 0, rateLimiterIntervalMs: 0 }, ...options };
    const child = fork(join(import.meta.dirname, "../measured-server.ts"), [folder, JSON.stringify(settings)], {
      execArgv: ["--conditions=@zooid/source", "--max-semi-space-size=4"],
    });
    const [port] = (await once(child, "message")) as [number];
    child.send("admin port");
    const [adminPort] = (await once(child, "message")) as [number];
    return new MeasuredProcess(child, folder, [port, adminPort]);
  }

  /** The work of its loop since the last report. */
  async report(): Promise<LoopReport> {
    const answer = once(this.#process, "message") as Promise<[LoopReport]>;
    this.#process.send("report");
    const [report] = await answer;
    return report;
  }

  /** Ends the process and removes its data, as this process exits. */
  kill(): void {
    this.#process.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
