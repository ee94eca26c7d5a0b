import type { FrameBatch, Zxid } from "@zooid/model";

/**
 * What the peer does to the world. The order of calls matters and the driver keeps it: what is handed to `append` may be
 * spoken of (acked, committed, delivered) only after its `synced` came back.
 */
export interface ZabSinks {
  /** Write these entries, and tell the peer with `synced` once they are durable. The batch stays whole until `release`. */
  append(batch: FrameBatch, generation: number): void;
  /** One committed entry, in zxid order: apply it. The bytes are valid during the call. */
  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void;
  /** Every entry of the batch was delivered: its bytes may be used again. */
  release(batch: FrameBatch): void;
}

/** What a peer is doing. Those that ask others (following, observing) join with the ensemble. */
export type PeerState = "looking" | "leading";
