import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

/** The bytes that ordinary clients add in a run, and the last large write of a tenant. */
const SLACK_BYTES = 40_000;

/**
 * B4: all hostile tenants together, which have one share or few, add at most a sixteenth for each
 * of them to a tree whose first three quarters are full, under one leader.
 */
export class Shares {
  readonly #heldBytesMax: number;
  readonly #shareCount: number;
  #epoch = 0;
  #bytesMax = 0;

  constructor(heldBytesMax: number, shareCount = 1) {
    this.#heldBytesMax = heldBytesMax;
    this.#shareCount = shareCount;
  }

  stepped(server: SimServer): void {
    if (!server.isLeading) return;
    const { zab, tree } = server.replica;
    if (zab.epoch < this.#epoch) return;
    if (zab.epoch > this.#epoch) {
      this.#epoch = zab.epoch;
      const sharedBytes = (this.#shareCount * this.#heldBytesMax) / 16 + SLACK_BYTES;
      this.#bytesMax = Math.max(tree.heldBytes, (3 / 4) * this.#heldBytesMax) + sharedBytes;
    }
    if (tree.heldBytes <= this.#bytesMax) return;
    const allowed = `of ${Math.round(this.#bytesMax)} that its clients may fill under it`;
    throw new Violation("B4", `server ${server.sid}'s tree takes ${tree.heldBytes} bytes, ${allowed}`);
  }
}
