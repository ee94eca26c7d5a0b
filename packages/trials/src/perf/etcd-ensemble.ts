/** etcd of a pinned version and a load for it, built by Go from `etcd/go.mod`. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";

export interface EtcdLoad {
  readonly kind: "put" | "get" | "get-serializable";
  readonly connections: number;
  readonly window: number;
  readonly seconds: number;
}

export interface EtcdResult {
  readonly requestsPerSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly requests: number;
}

const SOURCES = join(import.meta.dirname, "etcd");
const PROGRAMS = join(ROOT, ".cache/etcd");
const START_MS_MAX = 60_000;
const POLL_MS = 100;
const run = promisify(execFile);

/** @returns etcd's version */
export async function buildEtcd(): Promise<string> {
  mkdirSync(PROGRAMS, { recursive: true });
  for (const [name, of] of [
    ["load", "."],
    ["etcd", "go.etcd.io/etcd/server/v3"],
  ] as const)
    await run("go", ["build", "-o", join(PROGRAMS, name), of], { cwd: SOURCES });
  return /server\/v3 v([\d.]+)/.exec(readFileSync(join(SOURCES, "go.mod"), "utf8"))?.[1] ?? "unknown";
}

/**
 * Members of one cluster on loopback, with their defaults. Disposing of it ends them and removes
 * what they wrote.
 */
export class EtcdEnsemble implements AsyncDisposable {
  readonly #folder: string;
  readonly #members: readonly ChildProcess[];
  readonly #endpoints: string;

  private constructor(folder: string, members: readonly ChildProcess[], endpoints: string) {
    this.#folder = folder;
    this.#members = members;
    this.#endpoints = endpoints;
  }

  /** Resolves when it serves. */
  static async start(folder: string, size: number): Promise<EtcdEnsemble> {
    const ports = await freePorts(2 * size);
    const ids = Array.from({ length: size }, (_, i) => i);
    const url = (port: number | undefined): string => `http://127.0.0.1:${port}`;
    const cluster = ids.map((i) => `m${i}=${url(ports[2 * i])}`).join(",");
    const members = ids.map((i) => {
      const client = url(ports[2 * i + 1]);
      const peer = url(ports[2 * i]);
      const args = [
        ...["--name", `m${i}`, "--data-dir", join(folder, `m${i}`), "--log-level", "warn"],
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster],
      ];
      const child = spawn(join(PROGRAMS, "etcd"), args, { stdio: ["ignore", "pipe", "pipe"] });
      const log = createWriteStream(join(folder, `m${i}.log`));
      child.stdout.pipe(log);
      child.stderr.pipe(log);
      return child;
    });
    const ensemble = new EtcdEnsemble(folder, members, ids.map((i) => `127.0.0.1:${ports[2 * i + 1]}`).join(","));
    try {
      await ensemble.#untilServing();
    } catch (error) {
      await ensemble[Symbol.asyncDispose]();
      throw new Error(`etcd: ${size} members did not come to serve`, { cause: error });
    }
    return ensemble;
  }

  async #untilServing(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX;
    for (;;) {
      try {
        await this.measure({ kind: "put", connections: 1, window: 1, seconds: 0.1 });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await delay(POLL_MS);
    }
  }

  async measure({ kind, connections, window, seconds }: EtcdLoad): Promise<EtcdResult> {
    const { stdout } = await run(join(PROGRAMS, "load"), [
      ...["-endpoints", this.#endpoints, "-kind", kind],
      ...["-connections", String(connections), "-window", String(window), "-seconds", String(seconds)],
    ]);
    return JSON.parse(stdout) as EtcdResult;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#members.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    for (const member of running) member.kill("SIGKILL");
    await Promise.all(running.map((member) => once(member, "close")));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
