import { composeZxid, earlierOf, type LogPosition, ZXID_NONE, type Zxid } from "@zooid/model";

/**
 * The epoch of a leader and the history that it begins with, H0.
 *
 * A zxid in it is written in two ways. A position of the log names an entry. A position of the
 * epoch's stream is the same, but for the end of H0: there it is the epoch's start marker, the zxid
 * (epoch, 0), which sorts after all of the history and before the epoch's first entry. No entry has
 * it.
 */
export class LeaderEpoch {
  /** The log's end when the role began: H0 ends here. */
  readonly history: LogPosition;
  // Set by `begin` alone.
  /** 0 until a quorum has reported its accepted epoch. */
  number = 0;
  /** The start marker. */
  start: Zxid = ZXID_NONE;

  constructor(history: LogPosition) {
    this.history = history;
  }

  begin(epoch: number): void {
    this.number = epoch;
    this.start = composeZxid(epoch, 0);
  }

  /** A position of the stream as one of the log. */
  logPosition(zxid: Zxid): Zxid {
    return zxid > this.start ? zxid : earlierOf(zxid, this.history.zxid);
  }

  /** A position of the log as one of the stream. */
  streamPosition(zxid: Zxid): Zxid {
    return zxid === this.history.zxid ? this.start : zxid;
  }
}
