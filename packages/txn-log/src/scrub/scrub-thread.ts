import { statSync } from "node:fs";
import { ZXID_NONE, type Zxid } from "@zooid/model/storage";
import { openReader } from "../disk/database.ts";
import { LogReader, type SealedPart } from "../log/log-reader.ts";
import { NodeRuns } from "../state/node-runs.ts";
import { findPageDamage } from "../state/state-file.ts";
import { readAcls, readMeta, readSessions } from "../state/state-rows.ts";
import { StoreError } from "../store/store-error.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import type { FoundDamage, ScrubCommand, ScrubReport, ScrubThreadData } from "./scrub-messages.ts";

/**
 * The scrub: reads the sealed segments and the state file, at a bounded rate, and reports what is
 * not what was written.
 *
 * ```
 * segments   every entry against the chain, and the last one against the segment's end in the manifest; then every frame's sum
 * state      meta row, access lists, sessions and nodes, each against its sum; then, of a file that is not large, the pages' order
 *            and links (PRAGMA quick_check)
 * ```
 *
 * Each step is one short read transaction, so that checkpoints and purges wait for no round. The
 * newest segment is left to the start: its writer has it open, and SQLite reads it back from
 * memory.
 */

/** Below every other thread of the process. */
const NICE = 15;
const CACHE_KIB = 512;
const STEP_BYTES = 256 * 1024;
/**
 * Maximum bytes of a state file whose pages SQLite checks. It checks all of them in one
 * transaction, for which checkpoints and the store's end wait: some tenths of a second at this
 * size.
 */
const PAGE_CHECK_BYTES_MAX = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 60_000;

/** Node's longest timer; a longer one fires after 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

class ScrubThread {
  readonly #data: ScrubThreadData;
  #stateFile: string;
  #timer: NodeJS.Timeout | undefined;
  #steps: Iterator<number> | undefined;
  #bytes = 0;
  #startMs = 0;
  #damaged: string[] = [];
  #roundStateFile = "";
  /** The number of the last round that was asked for, and of the last one that began. */
  #asked = 0;
  #begun = 0;

  constructor(data: ScrubThreadData) {
    this.#data = data;
    this.#stateFile = data.stateFile;
    data.port.on("message", (command: ScrubCommand) => this.#receive(command));
    this.#sleep(0);
  }

  #receive(command: ScrubCommand): void {
    if (command.kind === "state") this.#stateFile = command.stateFile;
    else if (command.kind === "close") this.#close();
    else {
      this.#asked = command.number;
      if (this.#steps === undefined) this.#sleep(0);
    }
  }

  #close(): void {
    clearTimeout(this.#timer);
    // Disposes of what the round has open.
    this.#steps?.return?.();
    this.#data.port.close();
  }

  #sleep(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#step(), Math.min(ms, TIMER_MS_MAX));
  }

  #step(): void {
    this.#steps ??= this.#begin();
    const { value: bytes, done } = this.#next(this.#steps);
    if (done === true) return this.#end();
    this.#bytes += bytes;
    this.#sleep((1000 * bytes) / this.#data.bytesPerSecond);
  }

  #begin(): Iterator<number> {
    this.#begun = this.#asked;
    this.#bytes = 0;
    this.#startMs = performance.now();
    this.#damaged = [];
    this.#roundStateFile = this.#stateFile;
    return this.#round(this.#stateFile);
  }

  #next(steps: Iterator<number>): IteratorResult<number> {
    try {
      return steps.next();
    } catch (cause) {
      this.#report({ kind: "unfinished", reason: cause instanceof Error ? cause.message : String(cause) });
      return { value: undefined, done: true };
    }
  }

  #end(): void {
    this.#steps = undefined;
    const { bytes, ms, damaged } = {
      bytes: this.#bytes,
      ms: performance.now() - this.#startMs,
      damaged: this.#damaged,
    };
    this.#report({ kind: "round", number: this.#begun, stateFile: this.#roundStateFile, bytes, ms, damaged });
    this.#sleep(this.#asked > this.#begun ? 0 : this.#data.everyMs);
  }

  *#round(stateFile: string): Generator<number, void> {
    yield* this.#segments();
    yield* this.#guarded("state", stateFile, [ZXID_NONE, ZXID_NONE], stateSteps(stateFile));
  }

  *#segments(): Generator<number, void> {
    using reader = new LogReader(this.#data.logDirectory, this.#data.leases);
    for (const sealed of reader.sealed()) {
      const { file, after, end } = sealed;
      yield* this.#guarded("segment", file, [after, end], segmentSteps(reader, sealed));
    }
  }

  /** Damage ends the file's part of the round, and not the round. */
  *#guarded(
    part: FoundDamage["part"],
    file: string,
    [after, end]: readonly [after: Zxid, end: Zxid],
    steps: Generator<number, void>,
  ): Generator<number, void> {
    try {
      yield* steps;
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      // The log has dropped the segment meanwhile.
      if (cause.detail.code === "BELOW_FLOOR") return;
      if (cause.detail.code !== "DAMAGED") throw cause;
      const { place, found } = cause.detail;
      this.#damaged.push(file);
      this.#report({ kind: "damage", number: this.#begun, damage: { part, file, place, found, after, end } });
    }
  }

  #report(report: ScrubReport): void {
    this.#data.port.postMessage(report);
  }
}

function* segmentSteps(reader: LogReader, sealed: SealedPart): Generator<number, void> {
  const { end } = sealed;
  for (let at = sealed.after; at < end; ) {
    const { last, bytes } = reader.check(at, STEP_BYTES, end);
    at = last;
    yield bytes;
  }
  yield* reader.checkFrames(sealed);
}

function* stateSteps(file: string): Generator<number, void> {
  const database = openReader(file, CACHE_KIB, BUSY_TIMEOUT_MS);
  try {
    database.exec("BEGIN");
    readMeta(database, file);
    let bytes = 0;
    for (const [, content] of readAcls(database, file)) bytes += content.length;
    for (const [, , , passwordHash] of readSessions(database, file)) bytes += passwordHash.length;
    database.exec("COMMIT");
    yield bytes;
    const runs = new NodeRuns(database, file);
    for (let isMore = true; isMore; ) {
      let runBytes = 0;
      database.exec("BEGIN");
      isMore = runs.next((row) => {
        runBytes += row.length;
      });
      database.exec("COMMIT");
      yield runBytes;
    }
  } finally {
    database.close();
  }
  if (statSync(file).size > PAGE_CHECK_BYTES_MAX) return;
  const found = findPageDamage(file);
  if (found !== undefined) throw new StoreError({ code: "DAMAGED", file, place: "a page", found });
}

lowerPriority(NICE);
new ScrubThread(loadThread<ScrubThreadData>());
