import type { LevelRange } from "../levels/feature-level.ts";
import type { LevelRaise } from "../levels/level-raise.ts";
import type { ServerId } from "../membership/server-id.ts";
import type { Identity } from "../tree/acl-entry.ts";
import type { EpochPromise, EpochRange, LogPosition, NamedState, StandbyReport } from "./history.ts";
import type { Zxid } from "./zxid.ts";

/** The state of another ensemble that a state was made of, and the feature level that it got. */
export interface StateOrigin extends NamedState {
  readonly level: number;
}

/** The role of a server, as elections and operators name it. */
export type PeerRole = "looking" | "following" | "leading" | "observing";

/** Whom a server would follow, and what that candidate's log holds. */
export interface Vote {
  readonly leader: ServerId;
  /** The candidate's last logged entry. Never an epoch's start marker. */
  readonly zxid: Zxid;
  /** The candidate's currentEpoch. */
  readonly peerEpoch: number;
}

/** Between election links: the newest one is all that matters, older ones may be lost. */
export type ElectionMessage =
  | {
      readonly kind: "notification";
      readonly role: PeerRole;
      /** The logical clock; of a server that has decided, the round in which it did. */
      readonly round: number;
      /** Undefined: the sender has no vote (an observer, or one that lost its storage). */
      readonly vote: Vote | undefined;
      /** The sender's own log, for diagnosis. */
      readonly selfZxid: Zxid;
      readonly selfEpoch: number;
      /** The sender's committed configuration, where the ensemble can be changed while it runs. */
      readonly config?: Uint8Array | undefined;
      /** A change of it in the sender's log that may not be committed. */
      readonly nextConfig?: Uint8Array | undefined;
      /** With `config`: that of the sender's data; absent if it has none. */
      readonly ensembleId?: string | undefined;
      /** With `config`: the sender has it from its files, which name no disks. */
      readonly isFromFile?: boolean | undefined;
    }
  /** The basic election asks. */
  | { readonly kind: "poll"; readonly number: number }
  | {
      readonly kind: "poll-answer";
      readonly number: number;
      readonly role: PeerRole;
      readonly vote: Vote | undefined;
      /** As in a notification. */
      readonly config?: Uint8Array | undefined;
      readonly nextConfig?: Uint8Array | undefined;
      readonly ensembleId?: string | undefined;
      readonly isFromFile?: boolean | undefined;
    };

/** A learner's report to the leader that a session is alive. */
export interface Touch {
  readonly sessionHigh: number;
  readonly sessionLow: number;
  readonly timeoutMs: number;
}

/**
 * The room on a server's disk. `low`: little is left, for what frees room and keeps promises;
 * `full`: the log waits for room, so that nothing is acked.
 */
export type DiskRoom = "enough" | "low" | "full";

/**
 * Why a link is not wanted.
 *
 * - `not-leading`: the one that was asked does not lead
 * - `epoch-low`: the learner has promised a later epoch
 * - `diverged`: the histories split below the point where they should agree
 * - `unable`: something failed at the sender; the text says what
 * - `level`: one of the two does not know the feature level of the other's history
 */
export type RefuseReason = "not-leading" | "epoch-low" | "diverged" | "unable" | "level";

/**
 * Between a leader and a learner, on one ordered link that the learner dialed for this purpose.
 * Every message of the phases behind discovery names its epoch.
 */
export type ZabMessage =
  // Discovery
  | {
      readonly kind: "learner-info";
      readonly isObserver: boolean;
      readonly promise: EpochPromise;
      /** No epoch was ever held here, so nothing was ever logged. */
      readonly isFresh: boolean;
      /** Something that was promised or acked may be lost. */
      readonly isAmnesiac: boolean;
      /** It was written by this server alone: no other one ever had a part of it. */
      readonly isOwn: boolean;
      /** Empty unless something was logged. */
      readonly ensembleId: string;
      /**
       * The attempt to found an ensemble in which a server without a history made its promise;
       * empty for all others.
       */
      readonly attemptId: string;
      /** The version of the configuration that it knows to be committed. */
      readonly configVersion: Zxid;
      /**
       * The list of servers in its files. A server that counts by that list, as version 0.1.0 does,
       * sends none.
       */
      readonly list?: Uint8Array | undefined;
      /** Its operator asks for this list: clients do not change the members of its ensemble. */
      readonly isWish?: boolean;
      /** See `LogState`. Absent from a server that has none, as those of version 0.1.0. */
      readonly diskId?: string;
      /** The feature levels that its version knows. Absent: level 1 alone. */
      readonly levels?: LevelRange;
      /** Its version, such as `0.1.0`, for operators; absent where it does not say. */
      readonly version?: string;
      /**
       * The leader that it followed, or was, and that named the other server as its successor;
       * absent where an election decided.
       */
      readonly namedBy?: ServerId;
    }
  | {
      readonly kind: "leader-info";
      readonly epoch: number;
      /** The leader's boot count. */
      readonly incarnation: number;
      readonly ensembleId: string;
    }
  | {
      readonly kind: "ack-epoch";
      /** The promise had been given to this very leader before, on an earlier link. */
      readonly isRepeated: boolean;
      readonly currentEpoch: number;
      readonly logged: LogPosition;
      /** Everything up to here is committed and is never cut. */
      readonly floor: Zxid;
      /** Newest epoch first. */
      readonly tails: readonly { readonly epoch: number; readonly last: number }[];
      /**
       * Whether the run ends at the floor with a restored state that is not known to be committed.
       */
      readonly isFloorUncommitted?: boolean;
      /** The feature level of its last raise, committed or not. Absent: level 1. */
      readonly level?: number;
    }
  // Synchronization
  | {
      readonly kind: "sync-begin";
      readonly epoch: number;
      /**
       * `diff`: entries follow; `trunc`: cut to `from` first; `snap`: replace everything by the
       * state at `from`.
       */
      readonly mode: "diff" | "trunc" | "snap";
      readonly from: LogPosition;
      /** snap only: the sender's epoch table up to `from`. */
      readonly epochs: readonly EpochRange[];
      /** snap only: the state is a restored one, which is not known to be committed. */
      readonly isUncommitted?: boolean;
      /**
       * snap only: the state that it is made of. A learner that has this one ready needs no other
       * bytes.
       */
      readonly origin?: StateOrigin;
    }
  | {
      readonly kind: "snapshot-chunk";
      readonly index: number;
      readonly isLast: boolean;
      readonly bytes: Uint8Array;
      readonly start: number;
      readonly end: number;
    }
  /** The receiver has stored chunks up to this index, it not included. */
  | {
      readonly kind: "snapshot-credit";
      readonly next: number;
      /** The learner has the whole state, and needs no further chunk. */
      readonly isWhole?: boolean;
    }
  | EntriesMessage
  /** A learner in synchronization has stored the entries up to here: flow control, not an ack. */
  | { readonly kind: "staged"; readonly epoch: number; readonly through: Zxid }
  | {
      readonly kind: "new-leader";
      readonly epoch: number;
      readonly through: Zxid;
      /**
       * The leader's quorums are complete without this learner: others know the entries that it
       * forgot.
       */
      readonly endsAmnesia: boolean;
      /**
       * The ensemble's, for a learner that did not receive it before the history; empty for all
       * others.
       */
      readonly ensembleId: string;
      /**
       * The configuration at the history's end, where the ensemble can be changed while it runs.
       */
      readonly config: Uint8Array | undefined;
      /** The committed one, where the former is a change that is not. */
      readonly committedConfig: Uint8Array | undefined;
      /** The last raise of the feature level in the history; absent where there is none. */
      readonly levelRaise?: LevelRaise;
    }
  | { readonly kind: "ack-new-leader"; readonly epoch: number; readonly through: Zxid }
  | { readonly kind: "up-to-date"; readonly epoch: number; readonly committed: Zxid }
  // Broadcast
  | {
      readonly kind: "ack";
      readonly epoch: number;
      /** Everything up to here is on the sender's disk. */
      readonly durable: Zxid;
      /** The number of the newest leadership check that the sender knows. */
      readonly check: number;
    }
  | { readonly kind: "commit"; readonly epoch: number; readonly committed: Zxid }
  | {
      readonly kind: "ping";
      readonly epoch: number;
      readonly check: number;
      readonly committed: Zxid;
      /** Writes that add data are refused: the leader or a quorum has no room for them. */
      readonly lacksRoom: boolean;
    }
  | {
      readonly kind: "pong";
      readonly epoch: number;
      readonly check: number;
      readonly applied: Zxid;
      readonly touches: readonly Touch[];
      /** On the sender's disk. */
      readonly room: DiskRoom;
      readonly standby?: StandbyReport;
    }
  /** The leader resigns, all that it proposed is committed; this server is to lead next. */
  | { readonly kind: "leadership-transfer"; readonly epoch: number; readonly successor: ServerId }
  | { readonly kind: "refuse"; readonly reason: RefuseReason; readonly text: string };

/** A run of log entries, in the form in which the log takes them. */
export interface EntriesMessage {
  readonly kind: "entries";
  readonly epoch: number;
  /** The entry before the first. */
  readonly previous: Zxid;
  readonly first: Zxid;
  readonly last: Zxid;
  readonly count: number;
  /**
   * Frames from `start` to `end`, see `FrameBatch`. The receiver may keep them: they are not
   * written any more.
   */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The leader's commit point. */
  readonly committed: Zxid;
  /** As in `ping`. */
  readonly check: number;
}

/**
 * Requests that a learner's clients sent, on the same link and in order with everything else on it.
 */
export type ForwardMessage =
  /** The identities of a client of the learner, for all that is forwarded from now on. */
  | { readonly kind: "identities"; readonly client: number; readonly identities: readonly Identity[] }
  /**
   * A run of requests, one behind the other, each:
   *
   * ```
   * ┌──────────────┬─────────────────┬────────────────┬────────────┬────────────┬───────┐
   * │ sequence f64 │ session high i32 │ session low i32 │ client u32 │ length u32 │ frame │   big-endian
   * └──────────────┴─────────────────┴────────────────┴────────────┴────────────┴───────┘
   * ```
   *
   * The client's highest bit says that its session is the learner's own and unknown to the leader.
   */
  | {
      readonly kind: "forward";
      readonly count: number;
      readonly bytes: Uint8Array;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: "open-session";
      readonly sequence: number;
      readonly sessionHigh: number;
      readonly sessionLow: number;
      readonly timeoutMs: number;
      readonly passwordHash: Uint8Array;
    }
  | {
      readonly kind: "revalidate";
      readonly sequence: number;
      readonly sessionHigh: number;
      readonly sessionLow: number;
      readonly timeoutMs: number;
      readonly passwordHash: Uint8Array;
    }
  | { readonly kind: "revalidated"; readonly sequence: number; readonly isValid: boolean }
  | { readonly kind: "sync"; readonly sequence: number }
  /** The learner's answer may be given once it has applied `readAt`. */
  | { readonly kind: "sync-reply"; readonly sequence: number; readonly readAt: Zxid };

/** Everything that travels on a link between a leader and a learner. */
export type PeerMessage = ZabMessage | ForwardMessage;

/** One connection between a learner and a leader, as its holder numbers it. Never used twice. */
export type LinkRef = number & { readonly __brand: "LinkRef" };
