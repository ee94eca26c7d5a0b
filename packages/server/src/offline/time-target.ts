import { formatZxid, type Zxid } from "@zooid/model";
import { type TimedFile, type TimePlaces, timePlaces } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { OfflineError } from "./offline-error.ts";

/**
 * The last transaction before the first one that is stamped later.
 *
 * @param files in the order of a listing
 * @throws OfflineError behind the last one, since later ones may be missing, and where a clock went
 *   back across that time: then two moments are meant by it
 */
export function zxidAtTime(files: readonly TimedFile[], timeMs: number): Zxid {
  const places = timePlaces(files, timeMs, new TxnReader());
  if (places === undefined) throw new OfflineError(["there are no transactions in the archive to find a time in"]);
  if (places.last === undefined) {
    throw new OfflineError([`all transactions in the archive are later than ${new Date(timeMs).toISOString()}`]);
  }
  const newest = files.reduce((latest, file) => Math.max(latest, file.lastMs), 0);
  if (newest < timeMs) {
    const [end, asked] = [new Date(newest).toISOString(), new Date(timeMs).toISOString()];
    throw new OfflineError([`the history ends at ${formatZxid(places.first)}, ${end}, and not at ${asked}`]);
  }
  const twice = clockWentBack(places, timeMs, "--to");
  if (twice !== undefined) throw new OfflineError([twice]);
  return places.first;
}

/**
 * Why a time cannot stand for a transaction.
 *
 * @param flag the one with which a zxid is given instead
 */
export function clockWentBack({ first, last }: TimePlaces, timeMs: number, flag: string): string | undefined {
  if (last === undefined || last <= first) return undefined;
  const moment = new Date(timeMs).toISOString();
  return `a clock went back across ${moment}: ${flag} ${formatZxid(first)} is the first time that it was so late, ${flag} ${formatZxid(last)} the last`;
}
