import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { startWorker } from "../threads/start-worker.ts";
import type { FoundDamage, ScrubCommand, ScrubReport, ScrubThreadData } from "./scrub-messages.ts";

/** How the state file and the sealed segments are checked while the store is open. */
export interface ScrubOptions {
  /** Bytes read a second. Default 4 MiB. */
  readonly bytesPerSecond?: number;
  /** From the end of one round to the next. Default an hour. */
  readonly everyMs?: number;
  /** From the open to the first round. Default a minute, at most `everyMs`. */
  readonly firstMs?: number;
  /** A file is not what was written. Called once for each file, until a round finds it whole. */
  readonly damaged: (damage: ScrubDamage) => void;
  /** A round found nothing wrong with a file that was damaged, or the file is no longer needed. */
  readonly healed: (file: string) => void;
}

export interface ScrubDamage extends FoundDamage {
  /**
   * The fate of the file. `retired`: the log drops the segment as soon as no learner needs it, and
   * the next start does without it. `rewritten`: the state file is rebuilt from memory. `needed`:
   * the next start needs the file as it is.
   */
  readonly effect: "retired" | "rewritten" | "needed";
}

export interface ScrubStatus {
  readonly roundCount: number;
  /** Bytes checked in all rounds. */
  readonly bytes: number;
  readonly lastRoundMs: number;
  /** Rounds that something else than damage ended. */
  readonly unfinishedCount: number;
  readonly damaged: readonly ScrubDamage[];
}

export const SCRUB_BYTES_PER_SECOND: number = 4 * 1024 * 1024;
export const SCRUB_EVERY_MS = 3_600_000;
const SCRUB_FIRST_MS = 60_000;
const HEAP_MIB = 32;

export interface ScrubParts {
  readonly options: ScrubOptions;
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly stateFile: string;
  /** Tries to do without a damaged segment. */
  readonly retire: (damage: FoundDamage) => Promise<"retired" | "needed">;
  /** Rebuilds the state file. False where that cannot be done. */
  readonly rewrite: () => Promise<boolean>;
}

/** The scrub as the store's thread sees it. Its own thread begins with the first round. */
export class Scrub {
  readonly #parts: ScrubParts;
  readonly #timer: NodeJS.Timeout;
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined;
  readonly #damaged = new Map<string, ScrubDamage>();
  #stateFile: string;
  #counts = { roundCount: 0, bytes: 0, lastRoundMs: 0, unfinishedCount: 0 };
  #askedCount = 0;
  /** Rounds with a smaller number may have read the state file before it was rebuilt. */
  #rewrittenAt = 0;
  /** Rounds that were asked for. */
  #rounds: { readonly number: number; readonly resolve: () => void }[] = [];
  #isClosed = false;
  /** The handling of damage, in its order. */
  #handling: Promise<void> = Promise.resolve();

  constructor(parts: ScrubParts) {
    this.#parts = parts;
    this.#stateFile = parts.stateFile;
    const { everyMs = SCRUB_EVERY_MS, firstMs = Math.min(SCRUB_FIRST_MS, everyMs) } = parts.options;
    this.#timer = setTimeout(() => this.#start(), firstMs);
    // A check in the background keeps no process alive.
    this.#timer.unref();
  }

  get status(): ScrubStatus {
    return { ...this.#counts, damaged: [...this.#damaged.values()] };
  }

  /** Checks everything once, beginning now or behind the round that is under way. */
  async round(): Promise<ScrubStatus> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const number = ++this.#askedCount;
    this.#rounds.push({ number, resolve });
    const { port } = this.#thread ?? this.#start();
    port.postMessage({ kind: "now", number } satisfies ScrubCommand);
    port.ref();
    await promise;
    await this.#handling;
    if (this.#rounds.length === 0) port.unref();
    return this.status;
  }

  /** Another file is the state. */
  setStateFile(stateFile: string): void {
    if (stateFile === this.#stateFile) return;
    const before = this.#stateFile;
    this.#stateFile = stateFile;
    this.#thread?.port.postMessage({ kind: "state", stateFile } satisfies ScrubCommand);
    this.#heal(before);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#thread === undefined) return;
    const { worker, port } = this.#thread;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (worker.threadId === -1) resolve();
    else worker.once("exit", () => resolve());
    worker.ref();
    port.postMessage({ kind: "close" } satisfies ScrubCommand);
    await promise;
    await this.#handling;
    this.#settle();
    port.close();
  }

  /** The thread begins with a round. */
  #start(): { readonly worker: Worker; readonly port: MessagePort } {
    clearTimeout(this.#timer);
    const { options, logDirectory, leases } = this.#parts;
    const { bytesPerSecond = SCRUB_BYTES_PER_SECOND, everyMs = SCRUB_EVERY_MS } = options;
    const { port1, port2 } = new MessageChannel();
    const times = { bytesPerSecond, everyMs };
    const data: ScrubThreadData = { logDirectory, leases, stateFile: this.#stateFile, port: port2, ...times };
    const worker = startWorker({ name: "scrub/scrub-thread", data, transfer: [port2], heapMib: HEAP_MIB });
    port1.on("message", (report: ScrubReport) => this.#receive(report));
    worker.on("error", () => this.#ended());
    port1.unref();
    worker.unref();
    this.#thread = { worker, port: port1 };
    return this.#thread;
  }

  #receive(report: ScrubReport): void {
    if (this.#isClosed) return;
    switch (report.kind) {
      case "damage":
        this.#handling = this.#handling.then(() => this.#handle(report.damage, report.number));
        return;
      case "round":
        this.#handling = this.#handling.then(() => this.#endRound(report));
        return;
      case "unfinished":
        this.#counts = { ...this.#counts, unfinishedCount: this.#counts.unfinishedCount + 1 };
        return;
    }
  }

  async #handle(damage: FoundDamage, round: number): Promise<void> {
    if (damage.part === "state" && (damage.file !== this.#stateFile || round < this.#rewrittenAt)) return;
    const known = this.#damaged.get(damage.file);
    const effect = damage.part === "state" ? await this.#rewrite(known) : await this.#retire(damage, known);
    this.#damaged.set(damage.file, { ...damage, effect });
    if (known?.effect !== effect) this.#parts.options.damaged({ ...damage, effect });
  }

  /**
   * A file that is damaged again right after it was written is not written again: its disk is at
   * fault.
   */
  async #rewrite(known: ScrubDamage | undefined): Promise<"rewritten" | "needed"> {
    return known === undefined && (await this.#write()) ? "rewritten" : "needed";
  }

  /**
   * A state that is written from memory has the segment's entries, and checkpointing need not read
   * them any more.
   */
  async #retire(damage: FoundDamage, known: ScrubDamage | undefined): Promise<"retired" | "needed"> {
    const effect = await this.#parts.retire(damage);
    if (effect === "retired" || known !== undefined || !(await this.#write())) return effect;
    return await this.#parts.retire(damage);
  }

  async #write(): Promise<boolean> {
    if (!(await this.#parts.rewrite())) return false;
    // Whether the file is whole now is for a round to say that begins now.
    this.#rewrittenAt = ++this.#askedCount;
    this.#thread?.port.postMessage({ kind: "now", number: this.#rewrittenAt } satisfies ScrubCommand);
    return true;
  }

  #endRound(report: Extract<ScrubReport, { kind: "round" }>): void {
    const { roundCount, bytes } = this.#counts;
    this.#counts = {
      ...this.#counts,
      roundCount: roundCount + 1,
      bytes: bytes + report.bytes,
      lastRoundMs: report.ms,
    };
    const isStale = report.stateFile !== this.#stateFile || report.number < this.#rewrittenAt;
    for (const file of this.#damaged.keys()) {
      if (!report.damaged.includes(file) && !(isStale && file === this.#stateFile)) this.#heal(file);
    }
    this.#settle(report.number);
  }

  #heal(file: string): void {
    if (this.#damaged.delete(file)) this.#parts.options.healed(file);
  }

  #ended(): void {
    this.#counts = { ...this.#counts, unfinishedCount: this.#counts.unfinishedCount + 1 };
    this.#settle();
  }

  /** Ends the rounds that were asked for, up to a number. */
  #settle(number: number = Number.POSITIVE_INFINITY): void {
    const ended = this.#rounds.filter((round) => round.number <= number);
    this.#rounds = this.#rounds.filter((round) => round.number > number);
    for (const { resolve } of ended) resolve();
  }
}
