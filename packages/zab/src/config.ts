import type { QuorumVerifier, ServerId } from "@zooid/model";

export interface PeerConfig {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  /** It never votes and is never counted; it gets what is committed. */
  readonly isObserver: boolean;
  /** The unit of the limits below, in milliseconds. */
  readonly tickMs: number;
  /** Ticks within which a learner connects, and each step before the broadcast makes progress. */
  readonly initLimit: number;
  /** Ticks of silence after which the other side is given up. */
  readonly syncLimit: number;
  /** Most entries proposed and not yet delivered; beyond it {@link ZabPeer.isFull} asks the driver to admit no more. */
  readonly outstandingCountMax: number;
  readonly outstandingBytesMax: number;
  /** Bytes on their way to one learner and not acked; beyond it entries stay in the log. */
  readonly windowBytes: number;
  /** A run of entries in one message holds about so much. */
  readonly runBytes: number;
  /** An epoch's last usable counter: from there on no more is admitted until a new epoch has begun. */
  readonly counterMax: number;
  /** Becomes the ensemble's id if it has none when this server first leads. */
  readonly newEnsembleId: string;
}
