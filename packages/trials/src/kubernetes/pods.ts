import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";

const SERVER = join(ROOT, "apps/server/bin/zooid-server.cjs");
const STOP_MS_MAX = 30_000;

export interface PodOptions {
  readonly folder: string;
  /** Number of servers that found the ensemble together. */
  readonly founders: number;
  readonly secretFile: string;
  readonly passwordFile: string;
}

/** The address of a pod, by its number from 0 on. */
export function hostOf(ordinal: number): string {
  return `127.0.1.${ordinal}`;
}

/** A server's line, with `{ordinal}` where a pattern is wanted. */
export function lineOf(ordinal: number | "{ordinal}"): string {
  return `127.0.1.${ordinal}:2888:3888;127.0.1.${ordinal}:2181`;
}

/**
 * A pod as the chart makes it: a process with the variables of its container, and folders of its
 * own.
 */
export class Pod {
  readonly ordinal: number;
  readonly #options: PodOptions;
  #process: ChildProcess | undefined;

  constructor(ordinal: number, options: PodOptions) {
    this.ordinal = ordinal;
    this.#options = options;
  }

  start(): void {
    const { folder, founders, secretFile, passwordFile } = this.#options;
    const own = join(folder, `pod-${this.ordinal}`);
    for (const name of ["conf", "data", "log", "logs"]) mkdirSync(join(own, name), { recursive: true });
    const output = openSync(join(own, "output"), "a");
    this.#process = spawn("node", [SERVER, "container"], {
      env: {
        PATH: process.env["PATH"],
        ZOO_MY_ID: String(this.ordinal + 1),
        ZOO_SERVERS: Array.from({ length: founders }, (_, i) => `server.${i + 1}=${lineOf(i)}`).join(" "),
        ZOOID_JOINING_SERVER: lineOf(this.ordinal),
        ZOO_RECONFIG_ENABLED: "yes",
        ZOO_STANDALONE_ENABLED: "no",
        ZOO_ADMIN_SERVER_ADDRESS: hostOf(this.ordinal),
        ZOO_TICK_TIME: "500",
        ZOOID_PEER_SECRET_FILE: secretFile,
        ZOOID_SUPER_PASSWORD_FILE: passwordFile,
        ZOO_CONF_DIR: join(own, "conf"),
        ZOO_DATA_DIR: join(own, "data"),
        ZOO_DATA_LOG_DIR: join(own, "log"),
        ZOO_LOG_DIR: join(own, "logs"),
      },
      stdio: ["ignore", output, output],
    });
    closeSync(output);
  }

  /** As the kubelet does it. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process ?? { exitCode: 0 };
    if (this.#process === undefined || exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process?.kill("SIGKILL"), STOP_MS_MAX);
    await ended;
    clearTimeout(timer);
  }

  /** The end of its log. */
  logTail(): string {
    return readFileSync(join(this.#options.folder, `pod-${this.ordinal}`, "output"), "utf8").slice(-2000);
  }
}
