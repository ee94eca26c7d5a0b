/**
 * Clients of an ensemble whose servers are replaced: some of `@zooid/client` that know the first
 * servers and follow the configuration, and some of kazoo that know all addresses. Each sets nodes,
 * one request at a time.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type Client, connect, ZkError } from "@zooid/client";
import { installKazoo, kazooProgram } from "@zooid/conformance/internal/clients";
import { faultsIn, type Tree, type Write } from "./ensemble-history.ts";
import { nodesOf } from "./ensemble-load.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";

const KEYS: readonly string[] = ["/keys/k0", "/keys/k1", "/keys/k2", "/keys/k3"];
const START_TIMEOUT_MS = 30_000;

export interface ReplaceLoadOptions {
  readonly first: readonly EnsembleServer[];
  readonly all: readonly EnsembleServer[];
  readonly sessionTimeoutMs: number;
  readonly ownCount: number;
  readonly kazooCount: number;
}

export class ReplaceLoad {
  readonly writes: Write[] = [];
  readonly #faults: string[] = [];
  readonly #options: ReplaceLoadOptions;
  readonly #own: Client[] = [];
  #base: Tree = new Map();
  #kazoo: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #isOver = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: ReplaceLoadOptions) {
    this.#options = options;
  }

  /** How many sets were answered. */
  get doneCount(): number {
    return this.writes.reduce((count, { outcome }) => (outcome === "done" ? count + 1 : count), 0);
  }

  /** Resolves when the clients write. */
  async start(): Promise<void> {
    const { first, kazooCount, ownCount, sessionTimeoutMs } = this.#options;
    // It blocks this process, the first time for longer than sessions live.
    if (kazooCount > 0) installKazoo();
    for (let index = 0; index < ownCount; index++) {
      const client = await connect(addresses(first), {
        sessionTimeoutMs,
        trackEnsemble: true,
        startTimeoutMs: START_TIMEOUT_MS,
      });
      client.state$.subscribe(({ kind }) => {
        if (kind === "lost") this.#faults.push(`own${index}: the session was lost`);
      });
      this.#own.push(client);
    }
    const [maker] = this.#own;
    const [server] = first;
    if (maker === undefined || server === undefined) throw new Error("a load needs a client and a server");
    await maker.create("/keys", "");
    for (const key of KEYS) await maker.create(key, "");
    this.#base = await nodesOf(server, KEYS);
    this.#work = Promise.all([
      ...this.#own.map((client, index) => this.#set(client, `own${index}`, index)),
      this.#runKazoo(),
    ]);
  }

  /** Ends the load, and says what is wrong with the servers given. */
  async finish(servers: readonly EnsembleServer[]): Promise<readonly string[]> {
    this.#isOver = true;
    this.#kazoo?.stdin.end();
    await this.#work;
    const trees = new Map<number, Tree>();
    for (const server of servers) trees.set(server.sid, await nodesOf(server, KEYS));
    await Promise.all(this.#own.map((client) => client.close()));
    return [...this.#faults, ...faultsIn({ base: this.#base, writes: this.writes, reads: [] }, trees)];
  }

  async #set(client: Client, name: string, from: number): Promise<void> {
    for (let turn = from; !this.#isOver; turn++) {
      const path = KEYS[turn % KEYS.length] ?? "";
      const write = this.#sent(name, `${name}.${turn}`, path, process.hrtime.bigint());
      try {
        const { mzxid, version } = await client.set(path, write.value);
        answered(write, { at: process.hrtime.bigint(), mzxid: BigInt(mzxid), version });
      } catch (error) {
        if (!(error instanceof ZkError)) throw error;
        if (error.code !== "CONNECTION_LOSS") this.#faults.push(`${name}: a set was refused with ${error.code}`);
      }
    }
  }

  async #runKazoo(): Promise<void> {
    const { all, kazooCount, sessionTimeoutMs } = this.#options;
    if (kazooCount === 0) return;
    const args = [addresses(all), String(sessionTimeoutMs / 1000), String(kazooCount), ...KEYS];
    const child = spawn(installKazoo(), [kazooProgram("writer.py"), ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#kazoo = child;
    // It writes on where this process ends early, and keeps its output open.
    process.once("exit", () => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    for await (const line of createInterface({ input: child.stdout })) this.#readKazoo(line);
    const [status] = await ended;
    if (status !== 0) this.#faults.push(`kazoo's program ended with ${status}`);
  }

  #readKazoo(line: string): void {
    const [name = "", value = "", path = "", sentAt = "0", at, mzxid = "0", version = "0"] = line.split(" ");
    if (value === "lost") {
      this.#faults.push(`${name}: the session was lost`);
      return;
    }
    const write = this.#sent(name, value, path, BigInt(sentAt));
    if (at !== undefined) answered(write, { at: BigInt(at), mzxid: BigInt(mzxid), version: Number(version) });
  }

  #sent(client: string, value: string, path: string, sentAt: bigint): Write {
    const write: Write = { kind: "set", client, sid: 0, path, value, sentAt, outcome: "unknown" };
    this.writes.push(write);
    return write;
  }
}

function answered(
  write: Write,
  { at, mzxid, version }: { readonly at: bigint; readonly mzxid: bigint; readonly version: number },
): void {
  write.outcome = "done";
  write.answeredAt = at;
  write.zxid = mzxid;
  write.version = version;
}

function addresses(servers: readonly EnsembleServer[]): string {
  return servers.map(({ address }) => address).join();
}
