import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { LoggedProcess, logTailOf } from "@zooid/conformance/internal/servers/logged-process";
import { ApacheSnapshotDecoder, ApacheTree } from "@zooid/txn-log/sqlite";
import { until } from "./event-reader.ts";

const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const CREDENTIAL = "digest super:test";
const STOP_DEADLINE_MS = 10_000;

/** The answer to `follow_status`. */
export interface FollowerStatus {
  readonly state: string;
  readonly server: string | null;
  readonly zxid: string;
  readonly lag_transactions: number;
  readonly lag_ms: number;
  readonly digest: string;
  readonly digests_compared: number;
  readonly transactions: number;
  readonly snapshots: number;
  readonly resyncs: number;
  readonly spool_bytes: number;
  readonly last_error: string | null;
}

export interface FollowerOptions {
  /** Further lines of zoo.cfg. */
  readonly settings?: readonly string[];
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of `zooid-server follow`, which can be killed and started again on its data. */
export class FollowerProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #adminPort: number;
  readonly #env: FollowerOptions["env"];
  #process: LoggedProcess | undefined;

  constructor(folder: string, hosts: string, adminPort: number, { settings = [], env }: FollowerOptions = {}) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#adminPort = adminPort;
    this.#env = env;
    const lines = [
      `dataDir=${join(folder, "data")}`,
      `zooid.follow=${hosts}`,
      "admin.serverAddress=127.0.0.1",
      `admin.serverPort=${adminPort}`,
      "admin.rateLimiterIntervalInMS=0",
      `DigestAuthenticationProvider.superDigest=${SUPER_DIGEST}`,
      ...settings,
    ];
    writeFileSync(join(folder, "zoo.cfg"), `${lines.join("\n")}\n`);
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("the follower was not started");
    return this.#process.pid;
  }

  launch(): void {
    const command = [ZOOID_SERVER, "follow", join(this.#folder, "zoo.cfg")];
    this.#process = new LoggedProcess(command, { folder: this.#folder, env: this.#env });
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  stop(): Promise<void> {
    return this.#end("SIGTERM", STOP_DEADLINE_MS);
  }

  /** Its exit status, or the signal that ended it, and its log. */
  async ended(): Promise<{ readonly status: number | string | undefined; readonly log: string }> {
    const status = await this.#process?.ended();
    return { status, log: logTailOf(this.#folder) };
  }

  /** Undefined while it answers nothing. @throws where it has ended */
  async status(): Promise<FollowerStatus | undefined> {
    if (this.#process?.isRunning !== true) throw new Error(`the follower has ended:\n${logTailOf(this.#folder)}`);
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#adminPort}/commands/follow_status`);
      return answer.ok ? ((await answer.json()) as FollowerStatus) : undefined;
    } catch {
      return undefined;
    }
  }

  async reached(isReached: (status: FollowerStatus) => boolean): Promise<FollowerStatus> {
    let last: FollowerStatus | undefined;
    await until(
      async () => {
        last = await this.status();
        return last !== undefined && isReached(last);
      },
      () => JSON.stringify(last),
    );
    return last as FollowerStatus;
  }

  /** Its whole tree at one zxid. */
  async tree(): Promise<{ readonly tree: ApacheTree; readonly zxid: bigint | undefined }> {
    const answer = await fetch(`http://127.0.0.1:${this.#adminPort}/commands/snapshot?streaming=true`, {
      headers: { authorization: CREDENTIAL },
    });
    const tree = new ApacheTree();
    const decoder = new ApacheSnapshotDecoder(tree);
    decoder.add(Buffer.from(await answer.arrayBuffer()));
    return { tree, zxid: decoder.end() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #end(signal: "SIGKILL" | "SIGTERM", deadlineMs?: number): Promise<void> {
    await this.#process?.end(signal, deadlineMs);
  }
}
