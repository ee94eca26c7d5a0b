import { isFull, isUnexplained } from "../disk/database.ts";

/** Tries in a row that may fail without a reason, where the directory takes new files. */
const UNEXPLAINED_MAX = 3;

/**
 * Tells errors that pass once the disk has room from those that stay. SQLite gives no reason when
 * it cannot open or shorten a file, so a probe asks the directory. Room may come between the
 * failure and the probe: one unexplained failure proves nothing.
 */
export class MissingRoom {
  readonly #hasRoom: () => boolean;
  #unexplained = 0;

  /** @param hasRoom whether the directory takes one more file */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  /** Whether the error may pass once there is room: worth another try. */
  mayExplain(error: unknown): boolean {
    if (isFull(error)) {
      this.#unexplained = 0;
      return true;
    }
    if (!isUnexplained(error)) return false;
    this.#unexplained = this.#hasRoom() ? this.#unexplained + 1 : 0;
    return this.#unexplained < UNEXPLAINED_MAX;
  }

  /** A try succeeded. */
  clear(): void {
    this.#unexplained = 0;
  }
}
