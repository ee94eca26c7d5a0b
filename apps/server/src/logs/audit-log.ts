import { once } from "node:events";
import { closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { ConfigError, makeDirectory, type ZooidServer } from "@zooid/embedded-server";
import { destination } from "pino";
import { auditLine, auditTime, type ProcessEvent, processLine } from "./audit-line.ts";
import type { ProcessLines } from "./log-events.ts";

export interface AuditLogOptions {
  readonly file: string;
  /** Where the log says what becomes of the file. */
  readonly log: ProcessLines;
  /**
   * Bytes of a file, about, beyond which it is set aside for a new one. Default 10 MiB, as in
   * Apache ZooKeeper.
   */
  readonly fileBytesMax?: number;
  /**
   * Lines that wait for the disk, in bytes; lines beyond it are dropped, and reported. Default 16
   * MiB.
   */
  readonly waitingBytesMax?: number;
}

const FILE_BYTES_MAX = 10 * 1024 * 1024;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Files that are kept beside the present one: `.1` is the one before it. */
const FILES_KEPT = 10;
const TROUBLE_TOLD_MS = 10_000;
/** Readable by its own group only: it has all clients and their writes. */
const FILE_MODE = 0o640;

/**
 * The audit log: a file of its own, written in the background, a turn's lines at a time. Nothing
 * waits for it: when its disk cannot take what comes, clients are served all the same, and the
 * server's own log says how much is missing.
 */
export class AuditLog {
  readonly #file: string;
  readonly #log: ProcessLines;
  readonly #fileBytesMax: number;
  readonly #out: ReturnType<typeof destination>;
  readonly #user: string = userInfo().username;
  /** Devices and pipes, such as /dev/stdout, are not set aside. */
  readonly #isPlainFile: boolean;
  #following: ReturnType<ZooidServer["audit$"]["subscribe"]> | undefined;
  /** False while the next file is opened, in the background. */
  #isOpen = false;
  #bytes: number;
  #lostCount = 0;
  #toldMs = Number.NEGATIVE_INFINITY;

  /** Opens the file, and throws ConfigError where it cannot be written. */
  constructor({ file, log, fileBytesMax = FILE_BYTES_MAX, waitingBytesMax = WAITING_BYTES_MAX }: AuditLogOptions) {
    this.#file = file;
    this.#log = log;
    this.#fileBytesMax = fileBytesMax;
    const { isPlainFile, size } = check(file);
    this.#isPlainFile = isPlainFile;
    this.#bytes = size;
    this.#out = destination({ dest: file, append: true, sync: false, mode: FILE_MODE, maxLength: waitingBytesMax });
    this.#out.on("ready", () => {
      this.#isOpen = true;
    });
    this.#out.on("error", (error: Error) => {
      // If the next file cannot be opened, the one before stays in use.
      this.#isOpen = true;
      this.#report(`it cannot be written: ${error.message}`);
    });
    this.#out.on("drop", (lines: string) => {
      this.#lostCount += lines.split("\n").length - 1;
      this.#report(`${this.#lostCount} of its lines are lost, since its disk does not keep up`);
    });
  }

  /** Writes down that the server has started. */
  started(): void {
    this.#process("serverStart");
  }

  /** Writes what the server's clients do from now on. */
  follow(server: Pick<ZooidServer, "audit$">): void {
    this.#following = server.audit$.subscribe((records) => {
      const time = auditTime(new Date());
      this.#write(records.map((record) => auditLine(record, this.#user, time)).join(""));
    });
  }

  /** Writes down that the server stops, behind what its clients did. */
  stopping(): void {
    this.#following?.unsubscribe();
    this.#process("serverStop");
  }

  /**
   * Follows no longer. Resolves when everything is written; should the process not wait, it is
   * written as it exits.
   */
  async close(): Promise<void> {
    this.#following?.unsubscribe();
    try {
      // A stream that is ended while it changes files never finishes.
      if (!this.#isOpen) await once(this.#out, "ready");
      const closed = once(this.#out, "close");
      this.#out.end();
      await closed;
    } catch (error) {
      this.#report(`its end is missing: ${textOf(error)}`);
    }
  }

  #process(event: ProcessEvent): void {
    this.#write(processLine(event, this.#user, auditTime(new Date())));
  }

  #write(lines: string): void {
    if (this.#isPlainFile && this.#isOpen && this.#bytes > this.#fileBytesMax) this.#setAside();
    this.#bytes += Buffer.byteLength(lines);
    this.#out.write(lines);
  }

  /** Lines that still wait are written to the new file, so that no line is in two. */
  #setAside(): void {
    try {
      rmSync(`${this.#file}.${FILES_KEPT}`, { force: true });
      for (let i = FILES_KEPT - 1; i >= 1; i--) rename(`${this.#file}.${i}`, `${this.#file}.${i + 1}`);
      rename(this.#file, `${this.#file}.1`);
      this.#isOpen = false;
      this.#out.reopen(this.#file);
    } catch (error) {
      this.#report(`it cannot be set aside: ${textOf(error)}`);
    }
    this.#bytes = 0;
  }

  #report(trouble: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#toldMs < TROUBLE_TOLD_MS) return;
    this.#toldMs = nowMs;
    this.#log.error(`the audit log ${this.#file}: ${trouble}`, { event: "audit-log" });
  }
}

/** Whether the file can be written, before anything is served; what it is, and how long already. */
function check(file: string): { readonly isPlainFile: boolean; readonly size: number } {
  try {
    makeDirectory(dirname(file));
    closeSync(openSync(file, "a", FILE_MODE));
    const found = statSync(file);
    return { isPlainFile: found.isFile(), size: found.size };
  } catch (error) {
    throw auditFileError(error);
  }
}

/** The setting, and why its file cannot be written. */
export function auditFileError(reason: unknown): ConfigError {
  return new ConfigError([`zooid.audit.file: the audit log cannot be written: ${textOf(reason)}`]);
}

function rename(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
