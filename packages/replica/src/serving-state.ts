import { composeZxid, type Zxid } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";

/**
 * What this server is to its clients at the moment: its time, whether it serves, and up to where it shows what happened. What every
 * request reads are plain fields, which cost it less than accessors do; they change by the methods here alone.
 */
export class ServingState {
  readonly #zab: ZabPeer;
  /** Of a monotonic clock. */
  nowMs = 0;
  /** Of the wall clock. */
  wallMs = 0;
  /** Whether reads are served to those who asked for it, since there is no quorum. */
  isReadOnly = false;
  /**
   * The zxid that reads are answered with: what was applied last, or the beginning of this epoch. Set in the constructor: a field that
   * begins as a number is kept unboxed.
   */
  visible: Zxid;
  /** Whether a transaction is applied in part: until the rest is, the tree is shown to nobody. */
  isApplying = false;
  #isServing = false;

  constructor(zab: ZabPeer) {
    this.#zab = zab;
    this.visible = composeZxid(0, 0);
  }

  /** Whether clients are served: this server leads, follows or observes, and is level with what its epoch began with. */
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
