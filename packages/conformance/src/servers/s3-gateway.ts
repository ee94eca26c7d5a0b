/** Versity's S3 gateway of a pinned version, which checks signatures, on a folder. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@zooid/wire/testing/free-ports";
import { ROOT } from "./endpoint.ts";

const VERSION = "1.8.0";
const CACHE = join(ROOT, ".cache");
const START_MS_MAX = 60_000;
const POLL_MS = 50;

/** Builds the gateway, unless it is in the cache. @returns its program */
export function installS3Gateway(): string {
  const folder = join(CACHE, `versitygw-${VERSION}`);
  const program = join(folder, "versitygw");
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  // Complete once it has its name: two tools may install at once.
  const empty = mkdtempSync(`${folder}-`);
  const source = `github.com/versity/versitygw/cmd/versitygw@v${VERSION}`;
  execFileSync("go", ["install", source], {
    env: { ...process.env, GOBIN: empty },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    renameSync(empty, folder);
  } catch (error) {
    // Another tool was first.
    if (!existsSync(program)) throw error;
    rmSync(empty, { recursive: true });
  }
  return program;
}

export interface S3GatewayOptions {
  /** Its objects lie here, a folder for each bucket; it is there already. */
  readonly folder: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A gateway that can be killed and started again, on the same port. */
export class S3Gateway implements AsyncDisposable {
  readonly endpoint: string;
  readonly #program: string;
  readonly #options: S3GatewayOptions;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(program: string, options: S3GatewayOptions, port: number) {
    this.#program = program;
    this.#options = options;
    this.#port = port;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  static async open(options: S3GatewayOptions): Promise<S3Gateway> {
    const gateway = new S3Gateway(installS3Gateway(), options, await freePort());
    await gateway.start();
    return gateway;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { accessKeyId, secretAccessKey, folder } = this.#options;
    const args = ["--port", `127.0.0.1:${this.#port}`, "--quiet", "posix", folder];
    const env = { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
    this.#process = spawn(this.#program, args, { env, stdio: "ignore" });
    const startMs = performance.now();
    while (!(await this.#answers())) {
      if (performance.now() - startMs > START_MS_MAX) throw new Error(`no gateway answers at ${this.endpoint}`);
      await delay(POLL_MS);
    }
  }

  /** Ends it as `kill -9` does. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill("SIGKILL");
    await once(running, "exit");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #answers(): Promise<boolean> {
    try {
      await (await fetch(this.endpoint)).arrayBuffer();
      return true;
    } catch {
      return false;
    }
  }
}
