import { counterOf, epochOf, type ServerId, ZXID_NONE, type Zxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";

/** What one disk would show after a power cut, as last seen. */
export interface KnownDisk {
  durable: DurableLog;
  /** It was emptied, and no leader has synced it since: it counts in no quorum. */
  isWiped: boolean;
  /**
   * The newest epoch that a quorum held when it was last emptied: this server had acked nothing in
   * a newer one.
   */
  readonly emptiedIn: number;
  /** What it held before it was emptied. What was acked then was true when it was acked. */
  readonly lost: readonly DurableLog[];
}

/** What every server's disk holds, kept outside of the servers. */
export class KnownDisks {
  readonly #disks = new Map<ServerId, KnownDisk>();
  /** Disks that were emptied and not written since. */
  readonly #emptied = new Map<ServerId, Pick<KnownDisk, "emptiedIn" | "lost">>();

  get(sid: ServerId): KnownDisk | undefined {
    return this.#disks.get(sid);
  }

  all(): Iterable<KnownDisk> {
    return this.#disks.values();
  }

  /** Whether it counts nowhere: its disk was lost, or the end of its log. */
  isWiped(sid: ServerId): boolean {
    const disk = this.#disks.get(sid);
    return this.#emptied.has(sid) || disk?.isWiped === true || disk?.durable.amnesiac === true;
  }

  /**
   * Whether a disk holds an epoch, and with it a history. The epoch of an attempt to found an
   * ensemble is none where others have logged anything: its server is not counted beside them.
   */
  isFormed(sid: ServerId): boolean {
    const holdsEpoch = (this.#disks.get(sid)?.durable.currentEpoch ?? 0) > 0;
    return holdsEpoch && (this.hasLogged(sid) || this.areBlank);
  }

  /**
   * Whether anything was ever logged on a disk: an epoch alone may be that of an attempt to found
   * an ensemble.
   */
  hasLogged(sid: ServerId): boolean {
    return (this.#disks.get(sid)?.durable.tail.zxid ?? ZXID_NONE) !== ZXID_NONE;
  }

  /** Whether nothing was ever logged on any disk, emptied ones included. */
  get areBlank(): boolean {
    const isBlank = ({ tail }: DurableLog): boolean => tail.zxid === ZXID_NONE;
    const disks = [...this.#disks.values()];
    return (
      disks.every(({ durable, lost }) => isBlank(durable) && lost.every(isBlank)) &&
      [...this.#emptied.values()].every(({ lost }) => lost.every(isBlank))
    );
  }

  /** A disk is seen for the first time, or for the first time since it was emptied. */
  add(sid: ServerId, durable: DurableLog): void {
    const { emptiedIn, lost } = this.#emptied.get(sid) ?? { emptiedIn: 0, lost: [] };
    this.#disks.set(sid, { durable, isWiped: this.#emptied.delete(sid), emptiedIn, lost });
  }

  /** A server crashed before its disk was ever seen. */
  addCrashed(sid: ServerId, durable: DurableLog): void {
    this.#disks.set(sid, { durable, isWiped: false, emptiedIn: 0, lost: [] });
  }

  /** @param emptiedIn the newest epoch that a quorum holds */
  empty(sid: ServerId, emptiedIn: number): void {
    const disk = this.#disks.get(sid);
    const lost = disk === undefined ? (this.#emptied.get(sid)?.lost ?? []) : [...disk.lost, disk.durable];
    this.#emptied.set(sid, { emptiedIn, lost });
    this.#disks.delete(sid);
  }

  /** A disk that was taken away, and counted as emptied, is back with its content. */
  restore(sid: ServerId, durable: DurableLog): void {
    const { emptiedIn, lost } = this.#disks.get(sid) ?? this.#emptied.get(sid) ?? { emptiedIn: 0, lost: [] };
    this.#emptied.delete(sid);
    this.#disks.set(sid, { durable, isWiped: false, emptiedIn, lost: lost.filter((disk) => disk !== durable) });
  }

  /**
   * Servers whose disk satisfies a condition, or did before it was emptied: what they acked then
   * was true when they acked it.
   */
  serversWith(condition: (durable: DurableLog) => boolean): readonly ServerId[] {
    const sids = new Set<ServerId>();
    for (const [sid, { durable, isWiped, lost }] of this.#disks) {
      if ((!isWiped && condition(durable)) || lost.some(condition)) sids.add(sid);
    }
    for (const [sid, { lost }] of this.#emptied) if (lost.some(condition)) sids.add(sid);
    return [...sids];
  }

  /** Those of some voters that are able to vote and lack what is committed. */
  votersWithout(committed: Zxid, voters: ReadonlySet<ServerId>): readonly ServerId[] {
    return [...voters].filter((sid) => {
      if (this.#emptied.has(sid)) return false;
      const disk = this.#disks.get(sid);
      return disk === undefined || (!disk.isWiped && !holds(disk.durable, committed));
    });
  }
}

/**
 * Whether a log has an entry or a state that contains it: by its epochs, never by comparing zxids.
 */
export function holds({ epochs }: DurableLog, zxid: Zxid): boolean {
  if (zxid === ZXID_NONE) return true;
  const epoch = epochOf(zxid);
  const counter = counterOf(zxid);
  return epochs.some((range) => range.epoch === epoch && counter <= range.last);
}
