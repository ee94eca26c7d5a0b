import {
  COUNTER_TRANSFER,
  type LevelRange,
  type Members,
  OWN_LEVELS,
  type QuorumVerifier,
  type ServerId,
} from "@zooid/model";

export interface PeerConfig {
  readonly sid: ServerId;
  /** The voters, unless there are `members`. */
  readonly verifier: QuorumVerifier;
  /** It never votes and is never counted; it gets what is committed. Unless there are `members`. */
  readonly isObserver: boolean;
  /**
   * The ensemble's configuration, where it can be changed while it runs. A newer one in the log
   * takes its place.
   */
  readonly members?: Members;
  /**
   * The `members` are what this server's operator asks for, whatever the log holds: the leader may
   * propose them. Else they only begin an ensemble, and clients ask for changes.
   */
  readonly isWish: boolean;
  /** The unit of the limits below, in milliseconds. */
  readonly tickMs: number;
  /** Ticks within which a learner connects, and each step before the broadcast makes progress. */
  readonly initLimit: number;
  /** Ticks of silence after which the other side is given up. */
  readonly syncLimit: number;
  /**
   * Most entries proposed and not yet delivered; beyond it {@link ZabPeer.isFull} asks the driver
   * to admit no more.
   */
  readonly outstandingCountMax: number;
  readonly outstandingBytesMax: number;
  /** Bytes sent to one learner and not acked; beyond it entries stay in the log. */
  readonly windowBytes: number;
  /** About the size of a run of entries in one message. */
  readonly runBytes: number;
  /**
   * An epoch's last usable counter: from there on no more is admitted until a new epoch has begun.
   */
  readonly counterMax: number;
  /**
   * Time that a voter which cannot be reached must be awaited before an ensemble is founded without
   * it, from the start of this process on. Undefined where the driver does not
   * report the connections of other servers: then none is awaited. See {@link Founding}.
   */
  readonly foundingWaitMs: number | undefined;
  /**
   * The files of this server name a version of its configuration: there was an ensemble, and a
   * server without a history has lost its part of the data. Where the configuration can change,
   * `members` say so.
   */
  readonly hasPast: boolean;
  /** The feature levels that this server knows. */
  readonly levels: LevelRange;
  /** The version of this server, for the operators of others; undefined: it says none. */
  readonly version: string | undefined;
  /** Becomes the ensemble's id if it has none when this server first leads. */
  readonly newEnsembleId: string;
}

export type PeerOptions = Pick<PeerConfig, "sid" | "verifier"> & Partial<PeerConfig>;

export const PEER_DEFAULTS: Omit<PeerConfig, "sid" | "verifier"> = {
  isObserver: false,
  isWish: false,
  tickMs: 2000,
  initLimit: 10,
  syncLimit: 5,
  outstandingCountMax: 65_536,
  outstandingBytesMax: 64_194_304,
  windowBytes: 8 * 1024 * 1024,
  runBytes: 256 * 1024,
  counterMax: COUNTER_TRANSFER,
  foundingWaitMs: undefined,
  hasPast: false,
  levels: OWN_LEVELS,
  version: undefined,
  newEnsembleId: "zooid",
};
