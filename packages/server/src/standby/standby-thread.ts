import { workerData } from "node:worker_threads";
import { openUploadTarget } from "@zooid/backup";
import { assertNever } from "@zooid/model";
import { lowerPriority } from "@zooid/txn-log/archive";
import { TxnReader } from "@zooid/wire/txn";
import { FOLLOWER_ID } from "../following/follower-id.ts";
import type { StandbyCommand, StandbyReport, StandbyThreadData } from "./standby-messages.ts";
import { StandbyState } from "./standby-state.ts";

/**
 * Keeps the state of a followed Apache ensemble ready: looks at the archive, adds what it has, and
 * looks again after a while, or when it is asked to.
 */

/** Below the server's threads and above none of the system's. */
const NICE = 10;
const LOOK_MS = 2000;
/** Between two looks that were asked for. */
const ASKED_MS = 100;
const RETRY_MS_MAX = 30_000;

class StandbyThread {
  readonly #data: StandbyThreadData;
  readonly #state: StandbyState;
  readonly #ended = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isLent = false;
  #isLevel = false;
  #failures = 0;
  /** When the timer fires, by the clock that never goes back. */
  #dueMs = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(data: StandbyThreadData) {
    this.#data = data;
    this.#state = new StandbyState({
      folder: data.folder,
      ownerId: FOLLOWER_ID,
      decoder: new TxnReader(),
      target: () => openUploadTarget(data.source, this.#ended.signal),
      warn: (text) => this.#report({ kind: "warned", text }),
      steadyMs: () => performance.now(),
    });
    data.port.on("message", (command: StandbyCommand) => void this.#receive(command));
    this.#arm(0);
  }

  async #receive(command: StandbyCommand): Promise<void> {
    switch (command.kind) {
      case "look":
        return this.#arm(Math.max(0, this.#lookedMs + ASKED_MS - performance.now()));
      case "lend": {
        this.#isLent = true;
        await this.#looking;
        const state = this.#state.facts;
        this.#state.close();
        return this.#report({ kind: "lent", id: command.id, state });
      }
      case "take-back":
        this.#isLent = false;
        return this.#arm(0);
      case "drop":
        this.#isLent = true;
        await this.#looking;
        this.#state.remove();
        this.#isLent = false;
        this.#isLevel = false;
        this.#stands(undefined);
        this.#report({ kind: "dropped", id: command.id });
        return this.#arm(0);
      case "close":
        return await this.#close();
      default:
        return assertNever(command);
    }
  }

  /** Looks after a time, unless a look is due sooner. */
  #arm(inMs: number): void {
    const dueMs = performance.now() + inMs;
    if (this.#ended.signal.aborted || (this.#timer !== undefined && this.#dueMs <= dueMs)) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.#begin(), inMs);
  }

  #begin(): void {
    this.#timer = undefined;
    if (this.#isLent || this.#looking !== undefined) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    let fault: string | undefined;
    try {
      this.#isLevel = await this.#state.step();
      this.#failures = 0;
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#isLevel = false;
      this.#failures++;
      fault = error instanceof Error ? error.message : String(error);
    }
    this.#lookedMs = performance.now();
    this.#stands(fault);
    // The timer is armed once the promise of this look is settled.
    const backoffMs = Math.min(RETRY_MS_MAX, LOOK_MS * 2 ** Math.min(10, Math.max(0, this.#failures - 1)));
    setImmediate(() => this.#arm(this.#isLevel || fault !== undefined ? backoffMs : 0));
  }

  #stands(fault: string | undefined): void {
    this.#report({ kind: "stands", state: this.#state.facts, isLevel: this.#isLevel, fault });
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ended.abort(new Error("the server stops"));
    await this.#looking;
    this.#state.close();
    this.#data.port.close();
  }

  #report(report: StandbyReport): void {
    this.#data.port.postMessage(report);
  }
}

lowerPriority(NICE);
new StandbyThread(workerData as StandbyThreadData);
