import { composeZxid, type Zxid } from "@zooid/model";

/**
 * The state in which this server answers its clients: the time, whether it serves, and the zxid
 * that it shows. Every request reads it, so these are plain fields, which cost less than accessors;
 * the methods here change them.
 */
export class ServingState {
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
  /** Whether clients are served: this server leads, follows or observes, and is synchronized. */
  isServing = false;
  /** Whether this server decides over writes and sessions. */
  isLeading = false;
  /**
   * When this role, in which clients are served, learned that the ensemble is closed to them: it
   * ends soon, and the next one serves none.
   */
  closedMs: number | undefined = undefined;

  constructor() {
    this.visible = composeZxid(0, 0);
  }

  setTime(nowMs: number, wallMs: number): void {
    this.nowMs = nowMs;
    this.wallMs = wallMs;
  }

  /** A role is complete, in an epoch. */
  serve(epoch: number, applied: Zxid, isLeading: boolean): void {
    this.isReadOnly = false;
    this.visible = Math.max(applied, composeZxid(epoch, 0)) as Zxid;
    this.isServing = true;
    this.isLeading = isLeading;
  }

  /** The role has ended. */
  left(): void {
    this.isServing = false;
    this.isLeading = false;
    this.closedMs = undefined;
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
