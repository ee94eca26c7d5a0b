import { AskingConnection } from "../connections/asking-connection.ts";
import { type Host, sourceAddress } from "../connections/hosts.ts";
import { multiSetTemplate, type RequestTemplate, setTemplate, watchTemplate } from "../connections/request-template.ts";
import { waitUntil } from "../wait-until.ts";
import { ErrorCounts } from "./error-counts.ts";
import type { GeneratorLoad } from "./generator-gauge.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";

/**
 * One write, and all watchers of the changed nodes.
 *
 * A server sends one event for a path to a connection, however often that connection watches it. So
 * with more watches than connections, each connection watches several nodes, and one transaction
 * sets them all.
 */
export interface FanoutJob {
  readonly kind: "fanout";
  readonly hosts: readonly Host[];
  readonly watches: number;
  readonly connections: number;
  /** Paths of the nodes: the maximum of one connection's watches. */
  readonly paths: readonly string[];
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
}

export interface FanoutOutcome {
  readonly rounds: number;
  readonly notifications: number;
  /** Total time between writes and their last notifications. */
  readonly fanoutMs: number;
  /** From the write to each notification, to the last one, and to the write's answer. */
  readonly latencies: Readonly<Record<"last" | "each" | "write", Int32Array>>;
  readonly errors: Readonly<Record<string, number>>;
  /**
   * The generator's load between writes and last notifications only: arming the watches again is
   * not measured.
   */
  readonly generator: GeneratorLoad;
}

export const LOST_NOTIFICATION = "LOST_NOTIFICATION";
const ROUND_MS_MAX = 10_000;
const ROUNDS_MIN = 3;
const PING_MS = 1000;

export class FanoutLoad implements Performer<FanoutOutcome> {
  total = 0;
  readonly #job: FanoutJob;
  readonly #watchers: AskingConnection[] = [];
  /** The request that arms the watches. */
  readonly #arming: readonly (readonly RequestTemplate[])[];
  readonly #change: RequestTemplate;
  readonly #writer: AskingConnection;
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #last = new LatencyRecorder();
  readonly #each = new LatencyRecorder();
  readonly #write = new LatencyRecorder();
  #isMeasured = false;
  #writtenMs = 0;
  #awaited = 0;
  #complete: () => void = () => {};
  #rounds = 0;
  #fanoutMs = 0;
  #loopAtWrite = performance.eventLoopUtilization();
  #cpuAtWrite = process.threadCpuUsage();
  #activeMs = 0;
  #cpuMs = 0;

  constructor(job: FanoutJob) {
    this.#job = job;
    const { hosts, connections, sessionTimeoutMs, watches, paths, payloadBytes } = job;
    const templates = paths.map((path) => watchTemplate("watch", path));
    this.#arming = Array.from({ length: connections }, (_, i) =>
      templates.filter((_, node) => node * connections + i < watches),
    );
    const payload = new Uint8Array(payloadBytes);
    const [only = "", ...others] = paths;
    this.#change =
      others.length === 0 ? setTemplate("write", only, payload) : multiSetTemplate("write", paths, payload);
    for (let i = 0; i < connections; i++) {
      const host = hosts[i % hosts.length] as Host;
      const watcher = new AskingConnection(i, { host, localAddress: sourceAddress(host, i), sessionTimeoutMs });
      watcher.onEvent = () => this.#notified();
      this.#watchers.push(watcher);
    }
    const host = hosts[0] as Host;
    this.#writer = new AskingConnection(connections, { host, localAddress: undefined, sessionTimeoutMs });
  }

  async open(): Promise<void> {
    for (const one of [this.#writer, ...this.#watchers]) await one.open();
  }

  async run(startMs: number, signal: AbortSignal): Promise<FanoutOutcome> {
    const { warmupMs, durationMs, watches } = this.#job;
    await waitUntil(startMs, signal);
    const fromMs = startMs + warmupMs;
    const toMs = fromMs + durationMs;
    let rounds = 0;
    while (!signal.aborted && (performance.now() < toMs || rounds < ROUNDS_MIN)) {
      const isMeasured = performance.now() >= fromMs;
      await this.#round(isMeasured);
      if (isMeasured) rounds++;
      this.#pingIdle();
    }
    const busyOf = (ms: number): number => (this.#fanoutMs === 0 ? 0 : ms / this.#fanoutMs);
    for (const { connection } of [this.#writer, ...this.#watchers]) connection.destroy();
    return {
      rounds: this.#rounds,
      notifications: this.#rounds * watches,
      fanoutMs: this.#fanoutMs,
      latencies: { last: this.#last.counts, each: this.#each.counts, write: this.#write.counts },
      errors: this.errors.toRecord(),
      generator: { utilisation: busyOf(this.#activeMs), cpu: busyOf(this.#cpuMs), stallMsP99: 0 },
    };
  }

  async #round(isMeasured: boolean): Promise<void> {
    await Promise.all(this.#watchers.map((watcher, i) => watcher.demand(this.#arming[i] ?? [])));
    this.#isMeasured = isMeasured;
    this.#awaited = this.#job.watches;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#complete = resolve;
    this.#loopAtWrite = performance.eventLoopUtilization();
    this.#cpuAtWrite = process.threadCpuUsage();
    this.#writtenMs = performance.now();
    await this.#writer.demand([this.#change]);
    if (isMeasured) this.#write.record(performance.now() - this.#writtenMs);
    const deadline = setTimeout(resolve, ROUND_MS_MAX);
    await promise;
    clearTimeout(deadline);
    for (; this.#awaited > 0; this.#awaited--) this.errors.add(LOST_NOTIFICATION);
  }

  #notified(): void {
    const tookMs = performance.now() - this.#writtenMs;
    this.total++;
    if (this.#isMeasured) this.#each.record(tookMs);
    if (--this.#awaited > 0) return;
    if (this.#isMeasured) {
      this.#last.record(tookMs);
      this.#rounds++;
      this.#fanoutMs += tookMs;
      this.#activeMs += performance.eventLoopUtilization(this.#loopAtWrite).active;
      const { user, system } = process.threadCpuUsage(this.#cpuAtWrite);
      this.#cpuMs += (user + system) / 1000;
    }
    this.#complete();
  }

  /** Watchers send a request in each round; the writer of a slow server might not. */
  #pingIdle(): void {
    const nowMs = performance.now();
    for (const { connection } of this.#watchers) {
      if (nowMs - connection.lastSentMs > PING_MS) connection.ping(nowMs);
    }
  }
}
