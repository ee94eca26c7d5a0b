import { composeZxid, type Zxid } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";

/**
 * The state in which this server answers its clients: the time, whether it serves, and the zxid
 * that it shows. Every request reads it, so these are plain fields, which cost less than accessors;
 * the methods here change them.
 */
export class ServingState {
  readonly #zab: ZabPeer;
  /** Milliseconds of a monotonic clock. */
  nowMs = 0;
  /** Milliseconds since 1970, by the wall clock. */
  wallMs = 0;
  /** Whether reads are served without a quorum, to clients that accept read-only service. */
  isReadOnly = false;
  /**
   * The zxid in the answers to reads: of the last applied transaction, or the start of this epoch.
   * Set in the constructor, so that V8 keeps it unboxed.
   */
  visible: Zxid;
  /** Whether a transaction is applied in part: until it is complete, no client reads the tree. */
  isApplying = false;
  #isServing = false;

  constructor(zab: ZabPeer) {
    this.#zab = zab;
    this.visible = composeZxid(0, 0);
  }

  /** Whether clients are served: this server leads, follows or observes, and is synchronized. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** Whether this server decides over writes and sessions. */
  get isLeading(): boolean {
    return this.#isServing && this.#zab.state === "leading";
  }

  setTime(nowMs: number, wallMs: number): void {
    this.nowMs = nowMs;
    this.wallMs = wallMs;
  }

  /** A role is complete, in an epoch. */
  serve(epoch: number, applied: Zxid): void {
    this.isReadOnly = false;
    this.visible = Math.max(applied, composeZxid(epoch, 0)) as Zxid;
    this.#isServing = true;
  }

  /** The role has ended. */
  left(): void {
    this.#isServing = false;
  }

  /** There is no quorum, and reads are served without one. */
  serveReadOnly(applied: Zxid): void {
    this.isReadOnly = true;
    this.visible = Math.max(this.visible, applied) as Zxid;
  }

  /** A transaction was applied. */
  applied(zxid: Zxid): void {
    this.visible = zxid;
  }
}
