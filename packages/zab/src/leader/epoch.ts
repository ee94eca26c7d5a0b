import { assert, composeZxid, earlierOf, epochOf, type LogPosition, ZXID_NONE, type Zxid } from "@zooid/model";

/**
 * The epoch of a leader and the history that it begins with, H0.
 *
 * A zxid in it is written in two ways. A position of the log names an entry. A position of the
 * epoch's stream is the same, but for the end of H0: there it is the epoch's start marker, the zxid
 * (epoch, 0), which sorts after all of the history and before the epoch's first entry. No entry has
 * it.
 */
export class LeaderEpoch {
  /** H0 ends here: the log's end when the role began, or a restored state. */
  history: LogPosition;
  // Set by the methods here alone.
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

  /** The epoch begins with a restored state, and not with the history that its leader had. */
  replaceHistory(state: LogPosition): void {
    assert(this.number > epochOf(state.zxid), "a restored state stands before its epoch");
    this.history = state;
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
