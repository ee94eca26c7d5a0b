/**
 * Two clients, a server, and counts of their resources: ten thousand rounds must leave them
 * unchanged.
 *
 * A leak shows in a count (watches here and at the server, nodes, sessions, handles, listeners,
 * subscribers, background deletes) or in the heap. The heap is measured after collections, in
 * several windows of rounds: a leak grows in all of them, a heap's own bookkeeping grows in some
 * and shrinks in others. So the median window counts.
 */
import { getEventListeners, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { adminCommand, type Client, connect } from "@zooid/client";
import { expireSession, Relay } from "@zooid/client/testing";
import { filter, firstValueFrom, Observable } from "rxjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Time for background deletes and the events of the last deletes. */
const SETTLING_ROUNDS_MAX = 200;
const WINDOWS = 5;
/** Maximum growth of the heap per round: more than its bookkeeping, less than one kept object. */
export const BYTES_PER_ROUND_MAX = 60;

/** Counts of resources, by name. */
export type Counts = Readonly<Record<string, number>>;

export interface Remains {
  /** Counts that grew after the first half of the rounds, in words. */
  readonly leaked: readonly string[];
  /** Growth of the heap in bytes per round, in the median window. */
  readonly bytesPerRound: number;
}

export interface RunOptions {
  /** Default true. A collection for each window costs more than the rounds, if these are few. */
  readonly judgesHeap?: boolean;
}

export class LeakWorld implements AsyncDisposable {
  /** Its connection can be cut. */
  readonly a: Client;
  readonly b: Client;
  /** Lives as long as the world: a listener that remains on it after a round is a leak. */
  readonly signal: AbortSignal = new AbortController().signal;
  readonly #server: Worker;
  readonly #address: string;
  readonly #relay: Relay;
  readonly #subscribers: () => number;

  private constructor(
    server: Worker,
    { address, relay, clients: [a, b] }: { address: string; relay: Relay; clients: readonly [Client, Client] },
  ) {
    this.#server = server;
    this.#address = address;
    this.#relay = relay;
    [this.a, this.b] = [a, b];
    const counts = [a, b].map(countStateSubscribers);
    this.#subscribers = () => counts.reduce((sum, count) => sum + count(), 0);
  }

  static async start(): Promise<LeakWorld> {
    const execArgv = ["--conditions=@zooid/source"];
    const server = new Worker(new URL("./server-thread.ts", import.meta.url), { execArgv });
    const [port] = (await once(server, "message")) as [number];
    const address = `127.0.0.1:${port}`;
    const relay = await Relay.start({ port });
    // No back-off: the pause between rounds is a random part of its bound.
    const options = { random: () => 0 };
    const clients = await Promise.all([connect(`127.0.0.1:${relay.port}`, options), connect(address, options)]);
    return new LeakWorld(server, { address, relay, clients });
  }

  /** Cuts the first client's connection and waits for the next one. */
  async reconnect(): Promise<void> {
    const suspended = firstValueFrom(this.a.state$.pipe(filter(({ kind }) => kind === "suspended")));
    this.#relay.cut();
    await suspended;
    await this.a.connected();
  }

  /** Ends the first client's session and waits for the next one. */
  async renewSession(): Promise<void> {
    const { sessionId } = this.a;
    await expireSession(this.a, this.#address);
    const isNext = (id: bigint): boolean => id !== 0n && id !== sessionId;
    await firstValueFrom(this.a.state$.pipe(filter((state) => state.kind === "connected" && isNext(state.sessionId))));
  }

  /** Half of the rounds warm up, the other half is measured. */
  async run(
    rounds: number,
    round: (i: number) => Promise<unknown>,
    { judgesHeap = true }: RunOptions = {},
  ): Promise<Remains> {
    const half = Math.ceil(rounds / 2);
    for (let i = 0; i < half; i++) await round(i);
    const before = await this.#counts();
    const windows = judgesHeap ? WINDOWS : 1;
    const windowRounds = Math.ceil(half / windows);
    const growths: number[] = [];
    let heapBytes = judgesHeap ? heapNow() : Number.NaN;
    for (let window = 0; window < windows; window++) {
      for (let i = 0; i < windowRounds; i++) await round(half + window * windowRounds + i);
      await this.#counts(before);
      if (!judgesHeap) break;
      const nowBytes = heapNow();
      growths.push((nowBytes - heapBytes) / windowRounds);
      heapBytes = nowBytes;
    }
    return { leaked: excess(await this.#counts(before), before), bytesPerRound: median(growths) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.a.close(), this.b.close()]);
    await this.#relay[Symbol.asyncDispose]();
    const ended = once(this.#server, "exit");
    this.#server.postMessage("stop");
    await ended;
  }

  /** Current counts; with a goal, once they reach it or had every chance to. */
  async #counts(goal?: Counts): Promise<Counts> {
    let counts = await this.#alive();
    let still = 0;
    for (let i = 0; i < SETTLING_ROUNDS_MAX; i++) {
      const next = await this.#alive();
      still = isSame(next, counts) ? still + 1 : 0;
      counts = next;
      if (goal === undefined ? still >= 3 : excess(counts, goal).length === 0) break;
    }
    return counts;
  }

  async #alive(): Promise<Counts> {
    const { a, b } = this;
    await Promise.all([a.sync(), b.sync()]);
    const monitored = await adminCommand(this.#address, "mntr");
    // The socket of that request has closed with the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    const handles = Object.groupBy(process.getActiveResourcesInfo(), (name) => name);
    return {
      "watches here": a.watchCount + b.watchCount,
      "deletes that go on": a.pendingDeleteCount + b.pendingDeleteCount,
      "subscribers of states": this.#subscribers(),
      "listeners of the signal": getEventListeners(this.signal, "abort").length,
      ...Object.fromEntries(SEEN_BY_SERVER.map((name) => [name, numberOf(monitored, name)])),
      ...Object.fromEntries(Object.entries(handles).map(([name, found]) => [name, found?.length ?? 0])),
    };
  }
}

const SEEN_BY_SERVER = ["zk_watch_count", "zk_znode_count", "zk_ephemerals_count", "zk_global_sessions"];

function numberOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}\t(\\d+)$`, "m").exec(text)?.[1]);
}

function heapNow(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function isSame(left: Counts, right: Counts): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => left[name] === right[name]);
}

/** Fewer is no leak: a process has timers of its own. */
function excess(counts: Counts, before: Counts): readonly string[] {
  return Object.entries(counts)
    .filter(([name, count]) => count > (before[name] ?? 0))
    .map(([name, count]) => `${name}: ${before[name] ?? 0}, then ${count}`);
}

/** Counts subscribers of a client's states through this object, as recipes subscribe. */
function countStateSubscribers(zk: Client): () => number {
  const { state$ } = zk;
  let count = 0;
  const counted$ = new Observable<(typeof zk)["state"]>((subscriber) => {
    count++;
    const subscription = state$.subscribe(subscriber);
    return () => {
      count--;
      subscription.unsubscribe();
    };
  });
  Object.defineProperty(zk, "state$", { get: () => counted$ });
  return () => count;
}
