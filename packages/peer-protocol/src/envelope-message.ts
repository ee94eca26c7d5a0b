import type { ElectionMessage, EntriesMessage, LevelRange, PeerMessage, ServerId } from "@zooid/model";

/** The purpose of a link: all ports speak one protocol, and each refuses links for another. */
export type LinkPurpose = "election" | "quorum" | "observer";

/** The first message of both sides. */
export interface Hello {
  readonly kind: "hello";
  /** Empty on a server that has never been part of an ensemble. */
  readonly ensembleId: string;
  readonly sid: ServerId;
  readonly bootCount: number;
  /** Random and never used before, so that no proof can be used again. */
  readonly nonce: Uint8Array;
  readonly versionMin: number;
  readonly versionMax: number;
  readonly features: readonly number[];
  readonly purpose: LinkPurpose;
  /** The longest frame that the sender takes. */
  readonly frameBytesMax: number;
  /** The shared secrets that the sender has; empty when it asks for no proof. */
  readonly keyIds: readonly string[];
  readonly electionAlg: number;
  /** Where the sender is, by its own line; empty from a server that does not say. */
  readonly host: string;
  /**
   * Random for each start of the sender; empty from a server that does not say. Two starts that
   * are alive at once are two servers with one number.
   */
  readonly startId: string;
  /** The feature levels that the sender's version knows. */
  readonly levels: LevelRange;
  /** The feature level in force, as far as the sender knows; 0 for one without a history. */
  readonly level: number;
}

/** Proof of having the shared secret. */
export interface AuthProof {
  readonly kind: "auth-proof";
  readonly keyId: string;
  readonly mac: Uint8Array;
}

/**
 * Why a link is refused.
 *
 * - `version`: no version of these messages is known to both
 * - `auth`: no proof, or a wrong one
 * - `ensemble`: the two belong to different ensembles
 * - `configuration`: the configurations of the two do not go together; the text says where
 * - `duplicate`: the two are connected already
 * - `busy`: too many links, or too many that failed
 */
export type LinkRefuseReason = "version" | "auth" | "ensemble" | "configuration" | "duplicate" | "busy";

/** The reason for a refused link, sent before it is closed. */
export interface LinkRefuse {
  readonly kind: "link-refuse";
  readonly reason: LinkRefuseReason;
  readonly text: string;
  readonly retryAfterMs: number;
}

/** A keep-alive, and its answer by the other side. */
export interface Heartbeat {
  readonly kind: "heartbeat";
  readonly sequence: number;
  readonly isEcho: boolean;
  /**
   * In an echo: the wall clock of its sender, in milliseconds since 1970; 0 where it does not say.
   */
  readonly wallMs: number;
}

/** The messages of links about themselves. */
export type LinkMessage = Hello | AuthProof | LinkRefuse | Heartbeat;

/** An observer's first message to a follower: relay between this link and the leader. */
export interface RelayTo {
  readonly kind: "relay-to";
  readonly leader: ServerId;
}

/** A follower's answer: from here on it relays. */
export interface RelayReady {
  readonly kind: "relay-ready";
}

/**
 * A follower to its leader: an observer comes by this link. The follower has seen its proof of
 * being that server.
 */
export interface RelayOpen {
  readonly kind: "relay-open";
  /** Chosen by the follower; stands for the observer on this link. */
  readonly channel: number;
  readonly sid: ServerId;
}

/** Either side of a follower's link: the observer, or the leader's end of it, is gone. */
export interface RelayClose {
  readonly kind: "relay-close";
  readonly channel: number;
  readonly text: string;
}

/**
 * The messages between observer and leader: a stream of frames of its own, cut anywhere. Valid as
 * long as the bytes are.
 */
export interface RelayBytes {
  readonly kind: "relay-bytes";
  /** 0 between observer and follower, where there is only one. */
  readonly channel: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Entries for an observer, without their bytes: the follower was sent them itself, on the same link
 * and before.
 */
export interface RelayRun extends Omit<EntriesMessage, "kind" | "bytes" | "start" | "end"> {
  readonly kind: "relay-run";
  readonly channel: number;
}

/** The messages of a follower that relays between an observer and the leader. */
export type RelayMessage = RelayTo | RelayReady | RelayOpen | RelayClose | RelayBytes | RelayRun;

/** Everything that a frame between servers may hold. */
export type EnvelopeMessage = LinkMessage | ElectionMessage | PeerMessage | RelayMessage;
