import type { LevelRange, PeerMessage, RefuseReason, ServerId, SessionId, Zxid } from "@zooid/model";

/**
 * Events of the broadcast for operators, as data: checks and tests look at kinds, and the edge
 * makes sentences of them. Details in words come from the edge or from another server, and are
 * passed on unchanged.
 */
export type ZabEvent =
  | RoleEnd
  | LearnerFault
  | { readonly kind: "learner-follows"; readonly sid: ServerId }
  /**
   * It has data, and this server has none, or data of its own: an ensemble is not founded beside
   * it.
   */
  | { readonly kind: "founding-forbidden"; readonly sid: ServerId }
  /**
   * It follows, and no quorum counts it: it has nothing on its disk, or may have lost a part; or
   * its disk is an older one than that which it had last.
   */
  | { readonly kind: "learner-not-counted"; readonly sid: ServerId; readonly isOldDisk?: boolean }
  /** The configuration names another disk of this server than the one that it has. */
  | { readonly kind: "old-disk" }
  | { readonly kind: "whole-state-sent"; readonly sid: ServerId; readonly zxid: Zxid }
  /** A learner holds as committed what this leader does not know. */
  | { readonly kind: "committed-history-unknown"; readonly sid: ServerId }
  | {
      readonly kind: "refused-by-learner";
      readonly sid: ServerId;
      readonly reason: RefuseReason;
      readonly text: string;
    }
  | { readonly kind: "successor-named"; readonly sid: ServerId }
  /** A quorum has the restored state that this leader's epoch begins with. */
  | { readonly kind: "state-restored"; readonly zxid: Zxid }
  /** The leader says that this server's history and its own are not the same. */
  | { readonly kind: "history-not-the-leaders"; readonly sid: ServerId; readonly text: string };

/** Why a role ended. */
export type RoleEnd =
  // A leader's.
  | { readonly kind: "history-missing-here"; readonly sid: ServerId }
  /** This server's history is its own, and a voter has data of an ensemble. */
  | { readonly kind: "ensemble-has-data"; readonly sid: ServerId }
  | { readonly kind: "epoch-promised-elsewhere"; readonly sid: ServerId; readonly epoch: number; readonly to: number }
  | { readonly kind: "configuration-is-newer"; readonly sid: ServerId; readonly version: Zxid }
  | { readonly kind: "epochs-used-up"; readonly epoch: number }
  | { readonly kind: "learner-is-ahead"; readonly sid: ServerId; readonly zxid: Zxid; readonly currentEpoch: number }
  /** With the number of learners that were connected, as in `electors-lost`. */
  | { readonly kind: "no-quorum-follows"; readonly learners: number }
  | { readonly kind: "epoch-not-accepted"; readonly epoch: number }
  | { readonly kind: "quorum-lost" }
  | { readonly kind: "electors-lost"; readonly learners: number }
  | { readonly kind: "counter-used-up" }
  | { readonly kind: "handed-over"; readonly to: ServerId }
  /** An operator restores a state: this server leads again, in an epoch that begins with it. */
  | { readonly kind: "restore-begins" }
  | { readonly kind: "restore-given-up"; readonly detail: string }
  // A learner's.
  | { readonly kind: "leader-handed-over" }
  | { readonly kind: "leader-unreachable"; readonly sid: ServerId; readonly detail?: string }
  | { readonly kind: "leader-silent"; readonly silentMs: number }
  | { readonly kind: "leader-link-lost"; readonly detail: string }
  | { readonly kind: "refused-by-leader"; readonly sid: ServerId; readonly reason: RefuseReason; readonly text: string }
  | { readonly kind: "state-not-received"; readonly detail: string }
  | LeaderRefusal
  | LeaderFault
  // Either's.
  | { readonly kind: "configuration-learned"; readonly version: Zxid }
  /** The ensemble is closed to clients: the epoch in which it served them ends. */
  | { readonly kind: "closed-to-clients" }
  | { readonly kind: "stopped" };

/** A learner broke the protocol; its link ends. */
export interface LearnerFault {
  readonly kind: "illegal-message";
  readonly sid: ServerId;
  readonly fault:
    | { readonly kind: "epoch-acked-twice" }
    | { readonly kind: "acceptance-not-offered"; readonly epoch: number; readonly through: Zxid }
    | { readonly kind: "ack-out-of-turn"; readonly durable: Zxid }
    | { readonly kind: "pong-of-another-epoch"; readonly epoch: number }
    | { readonly kind: "request-before-synced" }
    | { readonly kind: "not-for-a-leader"; readonly message: PeerMessage["kind"] }
    // Found by the application in requests, see `ZabPeer.dropLearner`.
    | { readonly kind: "requests-break-off" }
    | { readonly kind: "session-exists"; readonly session: SessionId }
    | { readonly kind: "session-impossible"; readonly session: SessionId };
}

/** The leader broke the protocol; the learner's role ends. */
export interface LeaderFault {
  readonly kind: "illegal-message";
  readonly sid: ServerId;
  readonly fault:
    | { readonly kind: "epoch-named-twice" }
    | { readonly kind: "up-to-date-out-of-turn" }
    | { readonly kind: "commit-of-what-is-missing"; readonly committed: Zxid }
    | { readonly kind: "ping-of-another-epoch"; readonly epoch: number }
    /**
     * Beyond the last one that there can be: promised, it would be the end of this server's epochs.
     */
    | { readonly kind: "epoch-impossible"; readonly epoch: number }
    /**
     * Entries with gaps, of another epoch, or that are no transactions; a run without entries; or a
     * table of epochs that contradicts itself.
     */
    | { readonly kind: "history-broken"; readonly after: Zxid }
    | { readonly kind: "history-of-another-ensemble"; readonly ensembleId: string }
    /** More than a window that is not acked, or more than may be proposed without a commit. */
    | { readonly kind: "too-far-ahead"; readonly bytes: number }
    | { readonly kind: "out-of-turn"; readonly message: PeerMessage["kind"]; readonly step: string };
}

/** Why a learner refuses its leader. */
export type LeaderRefusal =
  | {
      readonly kind: "leader-of-another-ensemble";
      readonly leader: ServerId;
      readonly ours: string;
      readonly theirs: string;
    }
  /** This server has no data, and a listed server has those of another ensemble than the leader. */
  | {
      readonly kind: "beside-another-ensemble";
      readonly leader: ServerId;
      readonly theirs: string;
      readonly sid: ServerId;
      readonly ensembleId: string;
    }
  /** It was made alone, and the leader's ensemble has no part of it. */
  | { readonly kind: "history-of-one-server"; readonly leader: ServerId; readonly through: Zxid }
  | { readonly kind: "epoch-promised"; readonly offered: number; readonly promised: number; readonly to: number }
  | { readonly kind: "applied-beyond"; readonly leader: ServerId; readonly applied: Zxid; readonly from: Zxid }
  | { readonly kind: "histories-differ"; readonly leader: ServerId; readonly at: Zxid }
  /** This server does not know the feature level of the leader's history. */
  | { readonly kind: "leaders-level"; readonly leader: ServerId; readonly level: number; readonly levels: LevelRange };

/** Why a server refuses a learner. */
export type LearnerRefusal =
  | {
      readonly kind: "learner-of-another-ensemble";
      readonly sid: ServerId;
      readonly ours: string;
      readonly theirs: string;
    }
  /**
   * It says that it has promised an epoch that there cannot be: a leader would look for a later
   * one.
   */
  | { readonly kind: "promise-impossible"; readonly sid: ServerId; readonly epoch: number }
  | { readonly kind: "commit-unknown-here"; readonly zxid: Zxid }
  | { readonly kind: "histories-differ"; readonly at: Zxid }
  /**
   * It does not know the feature level of this server's history. Level 0: this server has no
   * history, and the two have no common level.
   */
  | { readonly kind: "learners-level"; readonly sid: ServerId; readonly level: number; readonly levels: LevelRange }
  /**
   * It has a newer history than this server, with a raise to a level that this server does not
   * know.
   */
  | {
      readonly kind: "learner-ahead-in-level";
      readonly sid: ServerId;
      readonly level: number;
      readonly levels: LevelRange;
    }
  | { readonly kind: "no-state-to-send" }
  | { readonly kind: "follows-another"; readonly leader: ServerId }
  | { readonly kind: "no-leader-known" }
  | { readonly kind: "not-asked-to-lead"; readonly message: PeerMessage["kind"] };

/** The reason in a `refuse` message. */
export type PeerRefusal = LeaderRefusal | LearnerRefusal;

/** Why this server closes a link. */
export type LinkEnd =
  | RoleEnd
  | LearnerRefusal
  | LearnerFault
  | { readonly kind: "superseded" }
  | { readonly kind: "fell-behind-the-log" }
  | { readonly kind: "learner-silent"; readonly limitMs: number }
  | { readonly kind: "learner-acks-nothing"; readonly limitMs: number }
  | { readonly kind: "leader-refused" }
  | { readonly kind: "link-not-wanted" };
