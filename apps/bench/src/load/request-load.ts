import { errorName } from "@zooid/model";
import { type Host, sourceAddress } from "../connections/hosts.ts";
import { type ConnectionEvents, FrameOffset, LoadConnection, readInt } from "../connections/load-connection.ts";
import { putDigits, putInt, type RequestTemplate, XID_OFFSET } from "../connections/request-template.ts";
import { SliceCounter } from "../results/timeline.ts";
import { waitUntil } from "../wait-until.ts";
import { ArrivalSchedule, type Arrivals } from "./arrivals.ts";
import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import { CHOICE_COUNT, MIX_LENGTH, mixTable, nodeChoices } from "./mix.ts";
import type { Performer } from "./performer.ts";

/** The kind of loop. */
export type Loop =
  /**
   * Each connection keeps a number of requests unanswered; a stall of the server stops the sending,
   * and so hides itself.
   */
  | { readonly kind: "closed"; readonly inFlight: number }
  /** Requests leave on a schedule, and latency counts from the scheduled time. */
  | {
      readonly kind: "open";
      readonly ratePerSecond: number;
      readonly arrivals: Arrivals;
      readonly inFlightMax: number;
    };

/**
 * Requests of a few kinds over some connections, for a time. Plain data: it is sent to the worker
 * threads.
 */
export interface RequestJob {
  readonly kind: "requests";
  readonly hosts: readonly Host[];
  readonly connections: number;
  readonly loop: Loop;
  readonly templates: readonly RequestTemplate[];
  /** The weight of each template. */
  readonly weights: readonly number[];
  /** The number of nodes for a template's node digits. */
  readonly nodes: number;
  /** The start of each connection's counter. */
  readonly counterFrom: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
  readonly seed: number;
  /** Also count answers by slices of the measured time. */
  readonly sliceMs?: number;
  /**
   * Whether a connection that loses its server moves to the next one with its session, as clients
   * do. Default: it reconnects to the same one.
   */
  readonly movesOn?: boolean;
}

/** The results of one thread in its window. Buckets are those of latency-recorder.ts. */
export interface RequestOutcome {
  /** One for each template. */
  readonly latencies: readonly Int32Array[];
  /** Delays of requests against the schedule; empty in a closed loop. */
  readonly lag: Int32Array;
  /** Answers within the window, one count for each template. */
  readonly answered: readonly number[];
  readonly errors: Readonly<Record<string, number>>;
  readonly reconnects: number;
  /** The largest number of any connection's counter, plus one. */
  readonly counterEnd: number;
  readonly generator: GeneratorLoad;
  /** If slices were requested. */
  readonly slices: Pick<SliceCounter, "answered" | "errors" | "worstMs"> | undefined;
}

/** The part of a job after the warm-up. */
export const MEASURED_PART = "measured";

/** The part of a job for this thread. */
export interface Share {
  readonly worker: number;
  readonly workers: number;
}

const SLAB_BYTES = 256 * 1024;
/** Time to wait for answers after the end. */
const DRAIN_MS = 10_000;
const RECONNECT_MS = 50;
/** Delay before the next server is tried. */
const MOVE_ON_MS = 10;
/**
 * A timer may fire a millisecond late, so the last stretch before a request is due is spent in
 * turns of the loop.
 */
const SPIN_MS = 1.5;
/**
 * Maximum number of requests sent in one turn of an open loop, so that answers are read in between.
 */
const DUE_MAX = 4096;

/**
 * Sends a job's requests and measures their latencies.
 *
 * The hot path, for each chunk that arrives: one clock reading; for each answer the header is read
 * and its latency counted; then as many requests as were answered are copied into a slab, patched,
 * stamped with one more clock reading, and written at once.
 */
export class RequestLoad implements ConnectionEvents, Performer<RequestOutcome> {
  readonly #job: RequestJob;
  readonly #connections: LoadConnection[] = [];
  readonly #recorders: readonly LatencyRecorder[];
  readonly #lag: LatencyRecorder = new LatencyRecorder();
  readonly #answered: number[];
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #mix: Uint8Array;
  readonly #choices: Int32Array;
  readonly #share: Share;
  readonly #frameBytesMax: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #slab: Uint8Array;
  /** Slabs that the system has not taken yet, with their connections. */
  readonly #lent: { readonly connection: LoadConnection; readonly slab: Uint8Array }[] = [];
  #end = 0;
  #appended = 0;
  #mixAt = 0;
  #choiceAt = 0;
  #nowMs = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #toMs = Number.POSITIVE_INFINITY;
  /** Until the time is over. */
  #isSending = false;
  /** Until the last answers have come, or their time limit. */
  #isStopped = false;
  #total = 0;
  #reconnects = 0;
  #schedule: ArrivalSchedule | undefined;
  #slices: SliceCounter | undefined;
  #turn = 0;
  readonly #due: Float64Array = new Float64Array(DUE_MAX);
  #failure: Error | undefined;
  readonly #failing: AbortController = new AbortController();
  #drained: (() => void) | undefined;

  constructor(job: RequestJob, share: Share) {
    this.#job = job;
    this.#share = share;
    this.#recorders = job.templates.map(() => new LatencyRecorder());
    this.#answered = job.templates.map(() => 0);
    const seed = job.seed + share.worker * 7919;
    this.#mix = mixTable(job.weights, seed);
    this.#choices = nodeChoices(job.nodes, seed + 1);
    this.#frameBytesMax = Math.max(...job.templates.map(({ frame }) => frame.length));
    this.#slab = this.#newSlab();
  }

  /** Requests that were answered, or failed, since the start. For progress. */
  get total(): number {
    return this.#total;
  }

  async open(): Promise<void> {
    const { hosts, connections, sessionTimeoutMs, counterFrom } = this.#job;
    for (let index = this.#share.worker; index < connections; index += this.#share.workers) {
      const host = hosts[index % hosts.length] as Host;
      const localAddress = sourceAddress(host, index);
      const connection = new LoadConnection(index, { host, localAddress, sessionTimeoutMs }, this);
      connection.counter = counterFrom;
      this.#connections.push(connection);
    }
    // A few at a time: a server's accept queue is short.
    const waiting = [...this.#connections];
    const open = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next.open();
    };
    await Promise.all(Array.from({ length: 16 }, open));
  }

  /**
   * Warms up, measures, waits for the last answers.
   *
   * @param startMs the start, on this thread's clock
   * @param signal ends the time early; the outcome has the measurements until then
   */
  async run(startMs: number, signal: AbortSignal, enter: (part: string) => void = () => {}): Promise<RequestOutcome> {
    const { warmupMs, durationMs, loop, sliceMs, templates } = this.#job;
    const over = AbortSignal.any([signal, this.#failing.signal]);
    await waitUntil(startMs, over);
    this.#fromMs = startMs + warmupMs;
    this.#toMs = this.#fromMs + durationMs;
    if (sliceMs !== undefined)
      this.#slices = new SliceCounter({ kinds: templates.length, fromMs: this.#fromMs, durationMs, sliceMs });
    this.#isSending = true;
    this.#pingIdle();
    if (loop.kind === "open") this.#startSchedule(loop, startMs);
    else for (const connection of this.#connections) this.#fill(connection);
    await waitUntil(this.#fromMs, over);
    enter(MEASURED_PART);
    const gauge = new GeneratorGauge();
    await waitUntil(this.#toMs, over);
    const generator = gauge.stop();
    if (signal.aborted) this.#toMs = performance.now();
    this.#isSending = false;
    await this.#drain();
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const connection of this.#connections) connection.destroy();
    if (this.#failure !== undefined) throw this.#failure;
    return {
      latencies: this.#recorders.map(({ counts }) => counts),
      lag: this.#lag.counts,
      answered: this.#answered,
      errors: this.errors.toRecord(),
      reconnects: this.#reconnects,
      counterEnd: Math.max(0, ...this.#connections.map(({ counter }) => counter)),
      generator,
      slices: this.#slices,
    };
  }

  receiving(): void {
    this.#nowMs = performance.now();
  }

  reply(connection: LoadConnection, bytes: Uint8Array, at: number): void {
    const xid = readInt(bytes, at + FrameOffset.xid);
    // The answer to a ping, or an event without a watch of ours.
    if (xid < 0) return;
    if (!connection.isNextReply(xid)) {
      this.#fail(new Error(`the server answered request ${xid} out of order`));
      return;
    }
    const { inFlight } = connection;
    const kind = inFlight.oldestKind;
    const sentMs = inFlight.oldestTime;
    this.#count(sentMs, kind);
    inFlight.shift();
    const code = readInt(bytes, at + FrameOffset.code);
    if (code === 0) this.#slices?.answer(kind, this.#nowMs, this.#nowMs - sentMs);
    if (code !== 0) this.#countError(errorName(code), sentMs);
    else if ((this.#job.templates[kind] as RequestTemplate).isMulti) this.#checkMulti(bytes, at, sentMs);
  }

  received(connection: LoadConnection): void {
    if (this.#job.loop.kind === "closed") this.#fill(connection);
    if (!this.#isSending) this.#drained?.();
  }

  lost(connection: LoadConnection): void {
    this.#nowMs = performance.now();
    // These requests waited until now: that is their latency.
    while (connection.inFlight.count > 0) {
      const { oldestTime, oldestKind } = connection.inFlight;
      this.#count(oldestTime, oldestKind);
      this.#countError("CONNECTION_LOSS", oldestTime);
      connection.inFlight.shift();
    }
    if (!this.#isStopped) {
      this.#reconnects++;
      this.#reopen(connection);
    }
    this.#drained?.();
  }

  #reopen(connection: LoadConnection): void {
    const { movesOn: resume = false } = this.#job;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (this.#isStopped) return;
        if (resume) this.#moveOn(connection);
        connection.open({ resume }).then(
          () => this.received(connection),
          (error: unknown) => {
            if (error instanceof Error && error.message === "SESSION_EXPIRED") connection.session = undefined;
            this.#reopen(connection);
          },
        );
      },
      resume ? MOVE_ON_MS : RECONNECT_MS,
    );
    this.#timers.add(timer);
  }

  #moveOn(connection: LoadConnection): void {
    const { hosts, sessionTimeoutMs } = this.#job;
    const host = hosts[(hosts.indexOf(connection.target.host) + 1) % hosts.length] as Host;
    const localAddress = sourceAddress(host, connection.index);
    // As in Java's client: every server can be tried before the session is over.
    const connectTimeoutMs = sessionTimeoutMs / hosts.length;
    connection.target = { ...connection.target, host, localAddress, connectTimeoutMs };
  }

  #count(sentMs: number, kind: number): void {
    const { [kind]: recorder } = this.#recorders;
    if (sentMs >= this.#fromMs && sentMs < this.#toMs) recorder?.record(this.#nowMs - sentMs);
    if (this.#nowMs >= this.#fromMs && this.#nowMs < this.#toMs)
      this.#answered[kind] = (this.#answered[kind] as number) + 1;
    this.#total++;
  }

  /**
   * Counts the requests that were sent, or due, in the measured time: those whose latency is
   * counted too.
   */
  #countError(code: string, sentMs: number): void {
    this.#slices?.error(this.#nowMs);
    if (sentMs >= this.#fromMs && sentMs < this.#toMs) this.errors.add(code);
  }

  /** A refused multi has code 0 in its header; its first result shows the error. */
  #checkMulti(bytes: Uint8Array, at: number, sentMs: number): void {
    const length = readInt(bytes, at);
    if (length < 16 + 9 || readInt(bytes, at + FrameOffset.body) !== -1 || bytes[at + FrameOffset.body + 4] === 1)
      return;
    const code = readInt(bytes, at + FrameOffset.body + 5);
    this.#countError(code === 0 ? "MULTI_REFUSED" : errorName(code), sentMs);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#isSending = false;
    this.#isStopped = true;
    this.#failing.abort();
  }

  #fill(connection: LoadConnection): void {
    const { loop } = this.#job;
    if (loop.kind === "open" || !this.#isSending || !connection.isOpen) return;
    const more = loop.inFlight - connection.inFlight.count;
    for (let i = 0; i < more; i++) this.#append(connection, 0);
    if (more > 0) this.#flush(connection, true);
  }

  /** Puts the next request into the slab. */
  #append(connection: LoadConnection, timeMs: number): void {
    const kind = this.#mix[this.#mixAt] as number;
    this.#mixAt = this.#mixAt + 1 === MIX_LENGTH ? 0 : this.#mixAt + 1;
    const { frame, digits } = this.#job.templates[kind] as RequestTemplate;
    if (this.#end + frame.length > this.#slab.length) this.#flush(connection, timeMs === 0);
    const slab = this.#slab;
    const at = this.#end;
    slab.set(frame, at);
    putInt(slab, at + XID_OFFSET, connection.takeXid());
    if (digits.length > 0) this.#putDigits(connection, kind, at);
    this.#end = at + frame.length;
    this.#appended++;
    connection.inFlight.push(timeMs, kind);
  }

  #putDigits(connection: LoadConnection, kind: number, frameAt: number): void {
    const { digits } = this.#job.templates[kind] as RequestTemplate;
    const node = this.#choices[this.#choiceAt] as number;
    this.#choiceAt = (this.#choiceAt + 1) & (CHOICE_COUNT - 1);
    const { nodes } = this.#job;
    for (let i = 0; i < digits.length; i++) {
      const { at, length, shows, add } = digits[i] as RequestTemplate["digits"][number];
      const value =
        shows === "node" ? (node + add) % nodes : shows === "counter" ? connection.counter++ : connection.index;
      putDigits(this.#slab, frameAt + at, length, value);
    }
  }

  /** Writes the slab; a closed loop's requests count as sent now. */
  #flush(connection: LoadConnection, isClosed: boolean): void {
    if (this.#end === 0) return;
    const nowMs = performance.now();
    if (isClosed) connection.inFlight.stampNewest(this.#appended, nowMs);
    const isTaken = connection.write(this.#slab.subarray(0, this.#end), nowMs);
    this.#end = 0;
    this.#appended = 0;
    if (!isTaken) {
      this.#lent.push({ connection, slab: this.#slab });
      this.#slab = this.#freeSlab();
    }
  }

  #freeSlab(): Uint8Array {
    const free = this.#lent.findIndex(({ connection }) => !connection.isBlocked);
    if (free === -1) return this.#newSlab();
    const [first] = this.#lent.splice(free, 1);
    return first === undefined ? this.#newSlab() : first.slab;
  }

  #newSlab(): Uint8Array {
    return new Uint8Array(new ArrayBuffer(Math.max(SLAB_BYTES, this.#frameBytesMax)));
  }

  #startSchedule({ ratePerSecond, arrivals }: Extract<Loop, { kind: "open" }>, startMs: number): void {
    const { worker, workers } = this.#share;
    const rate = ratePerSecond / workers;
    this.#schedule = new ArrivalSchedule({
      arrivals,
      ratePerSecond: rate,
      // Threads send in turn, not all at once.
      startMs: startMs + (worker / workers) * (1000 / rate),
      seed: this.#job.seed + worker * 7919 + 2,
    });
    this.#sendDue(this.#schedule);
  }

  /**
   * Sends everything that is due, late or not, and returns when the next request is. No request is
   * skipped: without room the schedule waits, and latency counts from the scheduled time.
   */
  #sendDue(schedule: ArrivalSchedule): void {
    if (this.#isStopped) return;
    const open = this.#connections.filter(({ isOpen }) => isOpen);
    const nowMs = performance.now();
    let due = 0;
    let room = this.#roomOf(open);
    while (schedule.nextMs <= nowMs && schedule.nextMs < this.#toMs && due < DUE_MAX && room > 0) {
      this.#due[due++] = schedule.nextMs;
      schedule.advance();
      room--;
    }
    const first = this.#turn;
    const count = open.length;
    for (let j = 0; j < Math.min(count, due); j++) {
      const connection = open[(first + j) % count] as LoadConnection;
      for (let i = j; i < due; i += count) this.#append(connection, this.#due[i] as number);
      this.#flush(connection, false);
    }
    this.#turn = count === 0 ? 0 : (first + due) % count;
    if (due > 0) {
      const sentMs = performance.now();
      for (let i = 0; i < due; i++) {
        const dueMs = this.#due[i] as number;
        if (dueMs >= this.#fromMs) this.#lag.record(sentMs - dueMs);
      }
    }
    if (schedule.nextMs >= this.#toMs) {
      this.#drained?.();
      return;
    }
    const waitMs = schedule.nextMs - performance.now();
    if (waitMs > SPIN_MS) setTimeout(() => this.#sendDue(schedule), waitMs - 1);
    else setImmediate(() => this.#sendDue(schedule));
  }

  #roomOf(open: readonly LoadConnection[]): number {
    const { loop } = this.#job;
    if (loop.kind === "closed") return 0;
    let room = Math.ceil(loop.inFlightMax / this.#share.workers);
    for (const connection of open) room -= connection.inFlight.count;
    return open.length === 0 ? 0 : room;
  }

  /** Keeps sessions with rare requests alive. */
  #pingIdle(): void {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#connections) {
        const timeoutMs = connection.session?.timeoutMs ?? this.#job.sessionTimeoutMs;
        if (connection.isOpen && nowMs - connection.lastSentMs > timeoutMs / 4) connection.ping(nowMs);
      }
    }, this.#job.sessionTimeoutMs / 12);
    this.#timers.add(timer);
  }

  /**
   * Waits for the answers of sent requests, and of those that were due and are still to be sent.
   * Missing answers are errors.
   */
  async #drain(): Promise<void> {
    const schedule = this.#schedule;
    const isDue = (): boolean => schedule !== undefined && schedule.nextMs < this.#toMs;
    const isOver = (): boolean =>
      this.#failure !== undefined || (!isDue() && this.#connections.every(({ inFlight }) => inFlight.count === 0));
    const { promise, resolve } = Promise.withResolvers<void>();
    const deadline = setTimeout(resolve, DRAIN_MS);
    this.#drained = () => {
      if (isOver()) resolve();
    };
    this.#drained();
    await promise;
    clearTimeout(deadline);
    this.#nowMs = performance.now();
    for (const { inFlight } of this.#connections) {
      for (; inFlight.count > 0; inFlight.shift()) {
        this.#count(inFlight.oldestTime, inFlight.oldestKind);
        this.#countError("NO_ANSWER", inFlight.oldestTime);
      }
    }
    for (; schedule !== undefined && isDue(); schedule.advance()) {
      this.#count(schedule.nextMs, 0);
      this.#countError("NOT_SENT", schedule.nextMs);
    }
  }
}
