import type { QuorumAddress } from "../core/leader-search.ts";
import type { ApachePeerErrorDetail } from "../core/peer-error.ts";

/** An event of a link beside the transactions; zxids are in hexadecimal. */
export type LinkNote =
  | { readonly kind: "connected"; readonly address: QuorumAddress; readonly epoch: number }
  | { readonly kind: "diff" }
  | { readonly kind: "snapshot"; readonly zxid: string }
  | { readonly kind: "snapshot-end"; readonly zxid: string }
  | { readonly kind: "up-to-date"; readonly epoch: number; readonly servers: string }
  | { readonly kind: "synced" }
  | {
      readonly kind: "disconnected";
      readonly error: ApachePeerErrorDetail;
      /** Whether a snapshot has begun that will not be continued. */
      readonly isSnapshotLost: boolean;
    }
  /** No address led to a leader. */
  | { readonly kind: "no-leader"; readonly failures: readonly AttemptFailure[] }
  /** The last note: another attempt would fail in the same way. */
  | { readonly kind: "failed"; readonly error: ApachePeerErrorDetail };

export interface AttemptFailure {
  readonly address: QuorumAddress;
  readonly error: ApachePeerErrorDetail;
}
