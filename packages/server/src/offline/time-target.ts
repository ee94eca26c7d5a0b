import { timeFaultText, type Zxid } from "@zooid/model";
import type { StoreError } from "@zooid/txn-log";
import { placeOfTime, type TimedFile } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { OfflineError } from "./offline-error.ts";

/** A transaction for a time. */
export interface FoundTime {
  readonly zxid: Zxid;
  /** A sentence for each damaged file that was left out. */
  readonly warnings: readonly string[];
}

/**
 * The last transaction before the first one that is stamped later.
 *
 * @param files in the order of a listing
 * @throws OfflineError behind the last one, since later ones may be missing, before the first one,
 *   in a gap, and where a clock went back across that time: then two moments are meant by it;
 *   StoreError for a damaged file that may have it
 */
export function findTime(files: readonly TimedFile[], timeMs: number): FoundTime {
  const place = placeOfTime(files, timeMs, new TxnReader());
  if (place.kind === "none") throw new OfflineError(["the history has no transaction to find a time in"]);
  if (place.kind !== "zxid") throw new OfflineError([timeFaultText(place)]);
  return { zxid: place.zxid, warnings: place.unread.map(unreadText) };
}

function unreadText({ message }: StoreError): string {
  return `${message}; whether a clock went back in it across the time is not known`;
}
