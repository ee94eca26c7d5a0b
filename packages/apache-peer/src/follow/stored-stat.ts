import { StatOffset, type Zxid, zxidFromHalves } from "@zooid/model";
import { APACHE_STAT_BYTES, STAT_LENGTHS_START } from "@zooid/wire/apache";

/** A Stat as Apache's servers store it, which is not what clients get. */
export interface StoredStat {
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
  readonly pzxid: Zxid;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  /** The number of children that were ever created. */
  readonly cversion: number;
  readonly aversion: number;
  /**
   * The session of an ephemeral node; -2^63 of a container; 0xff in the high byte and the time to
   * live in the low 40 bits of a TTL node.
   */
  readonly owner: bigint;
}

/**
 * Reads the Stat of a `node` event.
 *
 * @throws RangeError for anything but 60 bytes
 */
export function storedStat(stat: Buffer): StoredStat {
  if (stat.length !== APACHE_STAT_BYTES)
    throw new RangeError(`a stored stat has ${APACHE_STAT_BYTES} bytes, found ${stat.length}`);
  const zxidAt = (at: number): Zxid => zxidFromHalves(stat.readInt32BE(at), stat.readInt32BE(at + 4));
  return {
    czxid: zxidAt(StatOffset.czxid),
    mzxid: zxidAt(StatOffset.mzxid),
    pzxid: zxidAt(STAT_LENGTHS_START),
    ctimeMs: Number(stat.readBigInt64BE(StatOffset.ctime)),
    mtimeMs: Number(stat.readBigInt64BE(StatOffset.mtime)),
    version: stat.readInt32BE(StatOffset.version),
    cversion: stat.readInt32BE(StatOffset.cversion),
    aversion: stat.readInt32BE(StatOffset.aversion),
    owner: stat.readBigInt64BE(StatOffset.ephemeralOwner),
  };
}
