import {
  counterOf,
  laterOf,
  type Members,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { ANY_DISK } from "@zooid/zab";
import type { CommittedSequence } from "./committed-sequence.ts";
import type { ProposalStreams } from "./proposals.ts";

/** A configuration that a leader proposed, and the one that it changes. */
interface Change {
  readonly verifier: QuorumVerifier;
  readonly disks: Members["disks"];
  readonly before: Zxid;
}

/**
 * The configurations of an ensemble that changes while it runs, and which quorums count where
 * (I29, I30). A history's last configuration decides; while it is not committed, the one before it
 * decides as well.
 */
export class Configurations {
  readonly #first: QuorumVerifier;
  readonly #proposals: ProposalStreams;
  readonly #committed: CommittedSequence;
  readonly #changes = new Map<Zxid, Change>();

  constructor(first: QuorumVerifier, proposals: ProposalStreams, committed: CommittedSequence) {
    this.#first = first;
    this.#proposals = proposals;
    this.#committed = committed;
  }

  /** A leader proposed a configuration, after an entry. */
  proposed({ version, verifier, disks }: Members, after: Zxid): void {
    this.#changes.set(version, { verifier, disks, before: this.#versionAt(after) });
  }

  /**
   * Whether the newest configuration that may be committed says that a voter is counted by this
   * disk. A leader may learn in one step that it is committed, and that an entry behind it is, with
   * this voter counted.
   *
   * @param holdersOf the servers that hold an entry, those left out that wait for their name
   * @returns undefined if no disk of the voter is named
   */
  namesDisk(sid: ServerId, diskId: string, holdersOf: (zxid: Zxid) => readonly ServerId[]): boolean | undefined {
    let newest: Zxid = ZXID_NONE;
    for (const version of this.#changes.keys()) newest = laterOf(newest, version);
    for (let version = newest; version !== ZXID_NONE; version = this.#before(version)) {
      if (!this.#committed.has(version) && !this.mayCommit(version, holdersOf)) continue;
      // What it has acked as a voter before, the servers that vote now have.
      if (!this.#verifierOf(version).voters.has(sid)) return true;
      const named = this.#changes.get(version)?.disks.get(sid);
      return named === undefined || named === ANY_DISK ? undefined : named === diskId;
    }
    return undefined;
  }

  /**
   * Whether servers are a quorum for a leader whose history ends at a zxid: by its last
   * configuration, and by those before it that are not known to be replaced.
   */
  isQuorum(history: Zxid, sids: Iterable<ServerId>): boolean {
    const all = [...sids];
    for (let version = this.#versionAt(history); ; version = this.#before(version)) {
      if (!this.#verifierOf(version).isQuorum(all)) return false;
      if (version === ZXID_NONE || this.#committed.has(version)) return true;
    }
  }

  /**
   * Whether an entry is committed by the servers that hold it. A change that it commits with it
   * needs a quorum of the configuration that it replaces.
   *
   * @param holdersOf the servers that hold an entry
   */
  mayCommit(zxid: Zxid, holdersOf: (zxid: Zxid) => readonly ServerId[]): boolean {
    const version = this.#versionAt(zxid);
    if (!this.#verifierOf(version).isQuorum(holdersOf(zxid))) return false;
    if (version === ZXID_NONE || this.#committed.has(version)) return true;
    return this.#verifierOf(this.#before(version)).isQuorum(holdersOf(version));
  }

  /**
   * The quorums that may elect a leader, each with what its servers may lack together: what is
   * committed, and for those of the configuration before the change itself.
   */
  electing(committed: Zxid): readonly { readonly verifier: QuorumVerifier; readonly known: Zxid }[] {
    const version = this.#versionAt(committed);
    const now = { verifier: this.#verifierOf(version), known: committed };
    if (version === ZXID_NONE) return [now];
    return [now, { verifier: this.#verifierOf(this.#before(version)), known: version }];
  }

  /**
   * Those that may count for some server: the committed one, each change of it that was ever
   * proposed, since a log may hold it, and the one before it while some voter does not know that it
   * is replaced.
   *
   * @param isKnownTo whether a server's disk calls a configuration committed
   */
  counting(committed: Zxid, isKnownTo: (sid: ServerId, version: Zxid) => boolean): readonly QuorumVerifier[] {
    const version = this.#versionAt(committed);
    const present = this.#verifierOf(version);
    const verifiers = [present];
    if (version !== ZXID_NONE && [...present.voters].some((sid) => !isKnownTo(sid, version))) {
      verifiers.push(this.#verifierOf(this.#before(version)));
    }
    for (const { verifier, before } of this.#changes.values()) if (before === version) verifiers.push(verifier);
    return verifiers;
  }

  /** Whether a history ends with a change that is not committed. */
  isChangingAt(history: Zxid): boolean {
    const version = this.#versionAt(history);
    return version !== ZXID_NONE && !this.#committed.has(version);
  }

  /**
   * Whether a disk that names one configuration as committed may name another one as the last that
   * its log has seen: they are the same, the last one is committed, or the one that it replaces is
   * known. Quorums are counted by both, and by no third one.
   */
  mayBeBeside(committed: Zxid, lastSeen: Zxid): boolean {
    return lastSeen <= committed || this.#committed.has(lastSeen) || this.#before(lastSeen) <= committed;
  }

  /**
   * Whether a disk may name a configuration as committed: it is, or it is an ensemble's first one,
   * which is no entry.
   */
  mayBeCommitted(version: Zxid): boolean {
    return counterOf(version) === 0 || this.#committed.has(version);
  }

  /** Whether a server may lead by some configuration. */
  mayLead(sid: ServerId): boolean {
    if (this.#first.candidates.has(sid)) return true;
    for (const { verifier } of this.#changes.values()) if (verifier.candidates.has(sid)) return true;
    return false;
  }

  /** The version of the last configuration in a history that ends at a zxid. */
  #versionAt(zxid: Zxid): Zxid {
    if (this.#changes.has(zxid)) return zxid;
    return this.#proposals.get(zxid)?.configuration ?? ZXID_NONE;
  }

  /** For the proposal after an entry. */
  versionAfter(zxid: Zxid): Zxid {
    return this.#versionAt(zxid);
  }

  #before(version: Zxid): Zxid {
    return this.#changes.get(version)?.before ?? ZXID_NONE;
  }

  #verifierOf(version: Zxid): QuorumVerifier {
    return this.#changes.get(version)?.verifier ?? this.#first;
  }
}
