import { AskingConnection } from "./asking-connection.ts";
import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import { type Host, sourceAddress } from "./hosts.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";
import { multiSetTemplate, setTemplate, watchTemplate } from "./request-template.ts";
import { waitUntil } from "./wait-until.ts";

/**
 * One write, and everybody who watches what it changes.
 *
 * A server sends one event for a path to a connection, however often that connection watches it. So where there are more watches
 * than connections, each connection watches several nodes, and one transaction sets them all.
 */
export interface FanoutJob {
  readonly kind: "fanout";
  readonly hosts: readonly Host[];
  readonly watches: number;
  readonly connections: number;
  /** Paths of the nodes: as many as one connection watches at most. */
  readonly paths: readonly string[];
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
}

export interface FanoutOutcome {
  readonly rounds: number;
  readonly notifications: number;
  /** Time that passed between writes and their last notifications, in all. */
  readonly fanoutMs: number;
  /** From the write to each notification, to the last one, and to the write's own answer. */
  readonly latencies: Readonly<Record<"last" | "each" | "write", Int32Array>>;
  readonly errors: Readonly<Record<string, number>>;
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
  readonly #writer: AskingConnection;
  readonly #errors = new ErrorCounts();
  readonly #last = new LatencyRecorder();
  readonly #each = new LatencyRecorder();
  readonly #write = new LatencyRecorder();
  #isMeasured = false;
  #writtenMs = 0;
  #awaited = 0;
  #complete: () => void = () => {};
  #rounds = 0;
  #fanoutMs = 0;

  constructor(job: FanoutJob) {
    this.#job = job;
    const { hosts, connections, sessionTimeoutMs } = job;
    for (let i = 0; i < connections; i++) {
      const host = hosts[i % hosts.length] as Host;
      const watcher = new AskingConnection(i, { host, localAddress: sourceAddress(host, i), sessionTimeoutMs });
      watcher.onEvent = () => this.#notified();
      this.#watchers.push(watcher);
    }
    const host = hosts[0] as Host;
    this.#writer = new AskingConnection(connections, { host, localAddress: undefined, sessionTimeoutMs });
  }

  get errorCount(): number {
    return this.#errors.total;
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
    let gauge = new GeneratorGauge();
    while (!signal.aborted && (performance.now() < toMs || rounds < ROUNDS_MIN)) {
      const isMeasured = performance.now() >= fromMs;
      if (isMeasured && rounds === 0) gauge = new GeneratorGauge();
      await this.#round(isMeasured);
      if (isMeasured) rounds++;
      this.#pingIdle();
    }
    const generator = gauge.stop();
    for (const { connection } of [this.#writer, ...this.#watchers]) connection.destroy();
    return {
      rounds: this.#rounds,
      notifications: this.#rounds * watches,
      fanoutMs: this.#fanoutMs,
      latencies: { last: this.#last.counts, each: this.#each.counts, write: this.#write.counts },
      errors: this.#errors.toRecord(),
      generator,
    };
  }

  async #round(isMeasured: boolean): Promise<void> {
    const { watches, connections, paths, payloadBytes } = this.#job;
    await Promise.all(
      this.#watchers.map((watcher, i) => {
        const watched = paths.filter((_, node) => node * connections + i < watches);
        return watcher.demand(watched.map((path) => watchTemplate("watch", path)));
      }),
    );
    const payload = new Uint8Array(payloadBytes);
    const [only, ...others] = paths;
    if (only === undefined) return;
    const write = others.length === 0 ? setTemplate("write", only, payload) : multiSetTemplate("write", paths, payload);
    this.#isMeasured = isMeasured;
    this.#awaited = watches;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#complete = resolve;
    this.#writtenMs = performance.now();
    await this.#writer.demand([write]);
    if (isMeasured) this.#write.record(performance.now() - this.#writtenMs);
    const deadline = setTimeout(resolve, ROUND_MS_MAX);
    await promise;
    clearTimeout(deadline);
    for (; this.#awaited > 0; this.#awaited--) this.#errors.add(LOST_NOTIFICATION);
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
    }
    this.#complete();
  }

  /** The watchers speak once a round; the writer of a slow server might not. */
  #pingIdle(): void {
    const nowMs = performance.now();
    for (const { connection } of this.#watchers) {
      if (nowMs - connection.lastSentMs > PING_MS) connection.ping(nowMs);
    }
  }
}
