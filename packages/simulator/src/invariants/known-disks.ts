import { counterOf, epochOf, type ServerId, ZXID_NONE, type Zxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { Restores } from "./restores.ts";

/** The content that one disk would show after a power cut, as last seen. */
export interface KnownDisk {
  durable: DurableLog;
  /** It was emptied, and no leader has synced it since: it counts in no quorum. */
  isWiped: boolean;
  /**
   * It is back after another one was counted in its place: it counts once a committed configuration
   * names it.
   */
  isOld?: boolean;
  /**
   * It was taken away, and counted when it came back: no longer once a committed configuration
   * names the disk that was in its place.
   */
  readonly isReturned?: boolean;
  /**
   * The newest epoch that a quorum held when it was last emptied: this server had acked nothing in
   * a newer one.
   */
  readonly emptiedIn: number;
  /** The logs that it held before it was emptied. Acks of then were true. */
  readonly lost: readonly DurableLog[];
}

/**
 * Whether a committed configuration names this disk, see `Configurations`; undefined if it names
 * none of the server.
 */
type IsNamed = (sid: ServerId, diskId: string, holdersOf: (zxid: Zxid) => readonly ServerId[]) => boolean | undefined;

/** The contents of every server's disk, kept outside of the servers. */
export class KnownDisks {
  readonly #disks = new Map<ServerId, KnownDisk>();
  /** Disks that were emptied and not written since. */
  readonly #emptied = new Map<ServerId, Pick<KnownDisk, "emptiedIn" | "lost">>();
  /** The last disk of each server that was counted before it was taken away. */
  readonly #counted = new Map<ServerId, string>();
  /** Servers whose old disk is looked for in configurations now. */
  readonly #asked = new Set<ServerId>();
  readonly #isNamed: IsNamed;
  readonly #restores: Restores;

  constructor(isNamed: IsNamed, restores: Restores) {
    this.#isNamed = isNamed;
    this.#restores = restores;
  }

  /**
   * Whether a log has an entry, or a state that contains it or takes its place: by its epochs,
   * never by comparing zxids.
   */
  holds(durable: DurableLog, zxid: Zxid): boolean {
    return holds(durable, zxid) || this.#restores.replaces(durable, zxid);
  }

  get(sid: ServerId): KnownDisk | undefined {
    return this.#disks.get(sid);
  }

  all(): Iterable<KnownDisk> {
    return this.#disks.values();
  }

  /** Whether it counts nowhere: its disk was lost, or the end of its log. */
  isWiped(sid: ServerId): boolean {
    const disk = this.#disks.get(sid);
    return this.#emptied.has(sid) || (disk !== undefined && this.#isOut(sid, disk)) || disk?.durable.amnesiac === true;
  }

  #isOut(sid: ServerId, disk: KnownDisk): boolean {
    const mayChange = disk.isWiped ? disk.isOld === true : disk.isReturned === true;
    if (!mayChange || this.#asked.has(sid)) return disk.isWiped;
    this.#asked.add(sid);
    const isNamed = this.#isNamed(sid, disk.durable.identity.diskId, this.#holdersOf);
    if (isNamed !== undefined) {
      disk.isWiped = !isNamed;
      disk.isOld = !isNamed;
    }
    this.#asked.delete(sid);
    return disk.isWiped;
  }

  /**
   * Whether a disk holds an epoch, and with it a history. The epoch of an attempt to found an
   * ensemble is none where others have logged anything, or hold a later epoch of another attempt:
   * its server is not counted beside them.
   */
  isFormed(sid: ServerId): boolean {
    const own = this.#disks.get(sid)?.durable;
    if (own === undefined || own.currentEpoch === 0) return false;
    const outdoes = ({ durable: { currentEpoch, identity } }: KnownDisk): boolean =>
      currentEpoch > own.currentEpoch && identity.ensembleId !== own.identity.ensembleId;
    return this.hasLogged(sid) || (this.areBlank && ![...this.#disks.values()].some(outdoes));
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
    if (disk !== undefined) this.#noteCounted(sid, disk);
    const lost = disk === undefined ? (this.#emptied.get(sid)?.lost ?? []) : [...disk.lost, disk.durable];
    this.#emptied.set(sid, { emptiedIn, lost });
    this.#disks.delete(sid);
  }

  /**
   * A disk that was taken away, and counted as emptied, is back with its content.
   *
   * @param newestEpoch that a quorum holds
   */
  restore(sid: ServerId, durable: DurableLog, newestEpoch: number): void {
    const present = this.#disks.get(sid);
    const { emptiedIn, lost } = present ?? this.#emptied.get(sid) ?? { emptiedIn: 0, lost: [] };
    this.#emptied.delete(sid);
    if (present !== undefined) this.#noteCounted(sid, present);
    const { diskId } = durable.identity;
    const isNamed = this.#isNamed(sid, diskId, this.#holdersOf);
    if (isNamed ?? (this.#counted.get(sid) === diskId || this.areBlank)) {
      const rest = lost.filter((disk) => disk !== durable);
      this.#disks.set(sid, { durable, isWiped: false, isReturned: true, emptiedIn, lost: rest });
      return;
    }
    // What the disk in its place has acked is not on this one.
    const all = present === undefined ? lost : [...lost, present.durable];
    this.#disks.set(sid, { durable, isWiped: true, isOld: true, emptiedIn: newestEpoch, lost: all });
  }

  /**
   * Whether the disk that a server had before would be recognized: until a voter that was away when
   * it became one is named, any disk counts.
   */
  recognizesOldDisk(sid: ServerId, durable: DurableLog): boolean {
    const { diskId } = durable.identity;
    const present = this.#disks.get(sid);
    if (present !== undefined) this.#noteCounted(sid, present);
    return this.#isNamed(sid, diskId, this.#holdersOf) !== undefined || this.#counted.get(sid) === diskId;
  }

  #noteCounted(sid: ServerId, disk: KnownDisk): void {
    if (!this.#isOut(sid, disk)) this.#counted.set(sid, disk.durable.identity.diskId);
  }

  readonly #holdersOf = (zxid: Zxid): readonly ServerId[] => {
    const sids: ServerId[] = [];
    for (const [sid, disk] of this.#disks)
      if (!this.#isOut(sid, disk) && this.holds(disk.durable, zxid)) sids.push(sid);
    return sids;
  };

  /**
   * Servers whose disk satisfies a condition, or did before it was emptied: what they acked then
   * was true when they acked it.
   */
  serversWith(condition: (durable: DurableLog) => boolean): readonly ServerId[] {
    const sids = new Set<ServerId>();
    for (const [sid, disk] of this.#disks) {
      if ((!this.#isOut(sid, disk) && condition(disk.durable)) || disk.lost.some(condition)) sids.add(sid);
    }
    for (const [sid, { lost }] of this.#emptied) if (lost.some(condition)) sids.add(sid);
    return [...sids];
  }

  /** Those of some voters that are able to vote and lack what is committed. */
  votersWithout(committed: Zxid, voters: ReadonlySet<ServerId>): readonly ServerId[] {
    return [...voters].filter((sid) => {
      if (this.#emptied.has(sid)) return false;
      const disk = this.#disks.get(sid);
      return disk === undefined || (!this.#isOut(sid, disk) && !this.holds(disk.durable, committed));
    });
  }
}

function holds({ epochs }: DurableLog, zxid: Zxid): boolean {
  if (zxid === ZXID_NONE) return true;
  const epoch = epochOf(zxid);
  const counter = counterOf(zxid);
  return epochs.some((range) => range.epoch === epoch && counter <= range.last);
}
