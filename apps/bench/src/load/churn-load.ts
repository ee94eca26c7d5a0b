import { CreateMode, ErrorCode } from "@zooid/model";
import { AskingConnection } from "../connections/asking-connection.ts";
import { type Host, sourceAddress } from "../connections/hosts.ts";
import {
  closeTemplate,
  createTemplate,
  existsTemplate,
  type RequestTemplate,
} from "../connections/request-template.ts";
import { waitUntil } from "../wait-until.ts";
import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";
import type { Share } from "./request-load.ts";

/** Sessions that open, create ephemerals, and close, repeatedly. */
export interface ChurnJob {
  readonly kind: "churn";
  readonly hosts: readonly Host[];
  /** Number of concurrent sessions. */
  readonly connections: number;
  /** Ephemerals of each session. */
  readonly ephemerals: number;
  /** The parent of the ephemerals. */
  readonly parent: string;
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
}

export interface ChurnOutcome {
  /** Sessions with their whole life within the window. */
  readonly sessions: number;
  /** Opening, creating, closing, and each of them alone. */
  readonly latencies: Readonly<Record<"life" | "open" | "create" | "close", Int32Array>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly generator: GeneratorLoad;
}

/** An ephemeral existed after its session's end had been acknowledged. */
export const EPHEMERAL_LEFT = "EPHEMERAL_LEFT";
/** Pause after a failure, so that a dead server is not asked in a tight loop. */
const PAUSE_MS = 100;

export class ChurnLoad implements Performer<ChurnOutcome> {
  total = 0;
  readonly #job: ChurnJob;
  readonly #share: Share;
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #recorders = {
    life: new LatencyRecorder(),
    open: new LatencyRecorder(),
    create: new LatencyRecorder(),
    close: new LatencyRecorder(),
  };
  readonly #creates: readonly RequestTemplate[];
  readonly #close: RequestTemplate = closeTemplate("close");
  readonly #checks: readonly RequestTemplate[];
  readonly #checkers = new Map<Host, AskingConnection>();
  /** Checks of one connection follow each other. */
  readonly #checking = new Map<AskingConnection, Promise<void>>();
  #sessions = 0;
  #counter = 0;
  #fromMs = 0;

  constructor(job: ChurnJob, share: Share) {
    this.#job = job;
    this.#share = share;
    const paths = Array.from(
      { length: job.ephemerals },
      (_, i) => `${job.parent}/w${share.worker}-%%%%%%%%%-${String(i)}`,
    );
    const payload = new Uint8Array(job.payloadBytes);
    this.#creates = paths.map((path) => createTemplate("create", { path, payload, mode: CreateMode.EPHEMERAL }));
    this.#checks = paths.map((path) => existsTemplate("exists", path));
  }

  async open(): Promise<void> {
    const { hosts, sessionTimeoutMs } = this.#job;
    for (const host of hosts) {
      const checker = new AskingConnection(0, { host, localAddress: undefined, sessionTimeoutMs });
      await checker.open();
      this.#checkers.set(host, checker);
    }
  }

  async run(startMs: number, signal: AbortSignal): Promise<ChurnOutcome> {
    const { warmupMs, durationMs, connections } = this.#job;
    await waitUntil(startMs, signal);
    this.#fromMs = startMs + warmupMs;
    const toMs = this.#fromMs + durationMs;
    const lives: Promise<void>[] = [];
    for (let i = this.#share.worker; i < connections; i += this.#share.workers)
      lives.push(this.#churn(i, toMs, signal));
    await waitUntil(this.#fromMs, signal);
    const gauge = new GeneratorGauge();
    await waitUntil(toMs, signal);
    const generator = gauge.stop();
    await Promise.all(lives);
    for (const { connection } of this.#checkers.values()) connection.destroy();
    const { life, open, create, close } = this.#recorders;
    return {
      sessions: this.#sessions,
      latencies: { life: life.counts, open: open.counts, create: create.counts, close: close.counts },
      errors: this.errors.toRecord(),
      generator,
    };
  }

  async #churn(index: number, toMs: number, signal: AbortSignal): Promise<void> {
    const { hosts, sessionTimeoutMs } = this.#job;
    const host = hosts[index % hosts.length] as Host;
    const target = { host, localAddress: sourceAddress(host, index), sessionTimeoutMs };
    while (performance.now() < toMs && !signal.aborted) {
      const one = new AskingConnection(index, target);
      try {
        await this.#live(one, host, toMs);
      } catch (error) {
        this.errors.addThrown(error);
        await waitUntil(Math.min(toMs, performance.now() + PAUSE_MS), signal);
      } finally {
        one.connection.destroy();
      }
      this.total++;
    }
  }

  async #live(one: AskingConnection, host: Host, toMs: number): Promise<void> {
    const numbers = { node: 0, connection: 0, counter: this.#counter++ };
    const startMs = performance.now();
    await one.open();
    const openMs = performance.now();
    await one.demand(this.#creates, numbers);
    const createdMs = performance.now();
    await one.demand([this.#close]);
    const endMs = performance.now();
    await this.#check(host, numbers);
    if (startMs < this.#fromMs || startMs >= toMs) return;
    this.#recorders.open.record(openMs - startMs);
    this.#recorders.create.record(createdMs - openMs);
    this.#recorders.close.record(endMs - createdMs);
    this.#recorders.life.record(endMs - startMs);
    if (endMs < toMs) this.#sessions++;
  }

  /** After the close was acknowledged, the same server must not have the session's ephemerals. */
  async #check(host: Host, numbers: { node: number; connection: number; counter: number }): Promise<void> {
    const checker = this.#checkers.get(host);
    if (checker === undefined) return;
    const check = (this.#checking.get(checker) ?? Promise.resolve()).then(async () => {
      for (const code of await checker.ask(this.#checks, numbers)) {
        if (code !== ErrorCode.NO_NODE) this.errors.add(EPHEMERAL_LEFT);
      }
    });
    this.#checking.set(
      checker,
      check.catch(() => {}),
    );
    await check;
  }
}
