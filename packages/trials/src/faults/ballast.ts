import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

const PIECE = Buffer.alloc(64 * 1024);
const SMALL_PIECE = Buffer.alloc(512);
const REFILL_MS = 20;

/** A file that takes the room on a disk, and again what others give back, until it is removed. */
export class Ballast {
  readonly #directory: string;
  readonly #file: string;
  readonly #leaveBytes: number;
  #at = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param leaveBytes how much stays free. Default 0 */
  constructor(directory: string, leaveBytes = 0) {
    this.#directory = directory;
    this.#file = join(directory, "ballast");
    this.#leaveBytes = leaveBytes;
  }

  /** Takes the room there is now. */
  fill(): void {
    const file = openSync(this.#file, this.#at === 0 ? "w" : "r+");
    try {
      for (const piece of [PIECE, SMALL_PIECE]) this.#fillBy(file, piece);
    } finally {
      closeSync(file);
    }
  }

  /** From now on takes room as soon as there is some. */
  keepFull(): void {
    this.fill();
    this.#timer = setInterval(() => this.fill(), REFILL_MS);
  }

  remove(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#at = 0;
    rmSync(this.#file, { force: true });
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#directory);
    return bavail * bsize;
  }

  #fillBy(file: number, piece: Buffer): void {
    try {
      while (this.#leaveBytes === 0 || this.#freeBytes() >= this.#leaveBytes + piece.length) {
        this.#at += writeSync(file, piece, 0, piece.length, this.#at);
      }
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
