import type {
  Chain,
  EpochPromise,
  EpochRange,
  FrameBatch,
  LinkRef,
  LogPosition,
  PeerMessage,
  RefuseReason,
  ServerId,
  Touch,
  Zxid,
} from "@zooid/model";
import type { LinkEnd, Refusal, RoleEnd, ZabEvent } from "./operator-events.ts";

/**
 * What the peer does to the world. The order of calls matters and the driver keeps it: what is handed to the log may be spoken of
 * (acked, committed, delivered) only after its completion came back.
 */
export interface ZabSinks {
  readonly log: ZabLog;
  readonly links: ZabLinks;
  readonly snapshots: SnapshotPort;
  /**
   * One committed entry, in zxid order: apply it. The bytes are valid during the call.
   *
   * @returns false to have the next entry delivered by a later call of the peer's `deliver` only
   */
  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): boolean;
  /** Every entry of the batch was delivered or never will be: its bytes may be used again. */
  release(batch: FrameBatch): void;
  /** The last entry that was applied: delivered, replayed at the start, or contained in an installed state. */
  applied(): Zxid;
  /** A state was received and named by the log: the application becomes it, at once. */
  install(): void;
  /** The role is complete: a leader or learner of `epoch`, level with all that the epoch began with. Serve. */
  serve(epoch: number): void;
  /**
   * The role ended, for this reason. Nothing of it may be answered or applied any more: clients are let go. {@link look} follows
   * when the log has settled.
   */
  left(reason: RoleEnd): void;
  /** Nobody leads and the log is quiet: elect. */
  look(): void;
  /** A quorum waits to follow this server, which has no role: lead, if it can be led by this one at all. */
  wanted(): void;
  /** The ensemble's leader goes and names who should lead: go there without an election. {@link look} is not called. */
  successor(sid: ServerId): void;
  /** A quorum has confirmed that this server still led after {@link ZabPeer.confirm} returned this number (or a lower one). */
  confirmed(round: number): void;
  /** A message that is no business of the broadcast: requests, on their way to the leader or back. */
  message(link: LinkRef, sid: ServerId, message: PeerMessage): void;
  /** A learner's link ended, at the leader. */
  learnerLost(link: LinkRef, sid: ServerId): void;
  /** What to tell the leader of sessions that were heard of since the last time. */
  touches(): readonly Touch[];
  touched(touches: readonly Touch[]): void;
  /** For operators. */
  note(event: ZabEvent): void;
}

/**
 * The durable log, as the peer uses it. Writes take effect in the order of the calls and call back in that order, appends through
 * {@link ZabPeer.synced}. A callback never comes from within the call. A write that fails never calls back: the process ends.
 */
export interface ZabLog {
  /** What is durable now. */
  readonly durable: ZabDurable;
  append(batch: LoggedRun, generation: number, committed: Zxid): void;
  setPromise(promise: EpochPromise, done: () => void): void;
  setCurrentEpoch(epoch: number, done: () => void): void;
  setEnsembleId(ensembleId: string, done: () => void): void;
  beginStage(after: LogPosition, done: () => void): void;
  /** The bytes are copied before it returns. */
  stage(run: LoggedRun, done: () => void): void;
  dropStage(done: () => void): void;
  flip(flip: ZabFlip, done: () => void): void;
  /**
   * Durable entries after a zxid, at least one where there is one, more up to `bytesMax`. `below-floor` when they are no longer
   * held. Not a write: it may call back at any time, also after later writes.
   */
  read(after: Zxid, bytesMax: number, done: (result: ZabRun | "below-floor" | "damaged") => void): void;
  /** The chain at a zxid that the log holds or that is its floor. Not a write. */
  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void;
}

export interface LoggedRun {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export interface ZabDurable {
  readonly identity: { readonly ensembleId: string; readonly sid: number; readonly bootCount: number };
  readonly promise: EpochPromise;
  readonly currentEpoch: number;
  readonly tail: LogPosition;
  readonly floor: LogPosition;
  readonly commitHint: Zxid;
  /** Oldest epoch first; rows outlive the floor. */
  readonly epochs: readonly EpochRange[];
  readonly amnesiac: boolean;
}

export interface ZabFlip {
  readonly epoch: number;
  readonly tail: Zxid;
  readonly committed: Zxid;
  readonly snapshot?: { readonly stateFile: string; readonly epochs: readonly EpochRange[] };
  readonly endsAmnesia?: boolean;
  /** Whose history it is, for a server that did not know. */
  readonly ensembleId?: string;
}

export interface ZabRun {
  readonly bytes: Uint8Array;
  readonly after: LogPosition;
  readonly last: LogPosition;
  readonly count: number;
}

/** Links between a learner and its leader. */
export interface ZabLinks {
  /** Opens a link to a server; {@link ZabPeer.linkOpened} or {@link ZabPeer.dialFailed} answers, never from within the call. */
  dial(to: ServerId): void;
  /** Gives up a dial that was not answered, so that it never will be. */
  cancelDial(): void;
  /** Bytes in the message may be used again after the call. */
  send(link: LinkRef, message: PeerMessage): void;
  /** Sends a `refuse` message with its reason, and with the refusal in words. {@link close} follows. */
  refuse(link: LinkRef, reason: RefuseReason, refusal: Refusal): void;
  /** {@link ZabPeer.linkClosed} does not follow. */
  close(link: LinkRef, reason: LinkEnd): void;
}

/**
 * Moves whole states. It sends and paces its own `snapshot-chunk` and `snapshot-credit` messages; the peer hands it those that
 * arrive.
 */
export interface SnapshotPort {
  /**
   * At the leader: makes ready to send the newest state there is, and keeps the log behind it until {@link end}.
   *
   * @param opened where the state stands, before any chunk is sent; undefined when none can be sent
   */
  open(
    link: LinkRef,
    opened: (at: { readonly position: LogPosition; readonly epochs: readonly EpochRange[] } | undefined) => void,
  ): void;
  /** Sends it. `sent` follows the receiver's credit for the last chunk, which it gives when the state is whole, checked and on disk. */
  start(link: LinkRef, sent: () => void): void;
  credit(link: LinkRef, next: number): void;
  /** The learner is level or gone. */
  end(link: LinkRef): void;

  /** At the learner: a state is to come. `stored` names the file once it is whole, checked and on disk; or says what is wrong. */
  receive(
    link: LinkRef,
    position: LogPosition,
    stored: (result: { readonly stateFile: string } | { readonly failed: string }) => void,
  ): void;
  chunk(index: number, isLast: boolean, bytes: Uint8Array, start: number, end: number): void;
  /** What came so far is of no use any more. */
  abandon(): void;
}

/** What a peer is doing. */
export type PeerState = "looking" | "leading" | "following" | "observing";

/** How far its role has come. */
export type PeerPhase = "election" | "discovery" | "synchronization" | "broadcast";
