import {
  jointVerifier,
  type LogState,
  laterOf,
  type Members,
  membersText,
  parseMembers,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { PeerConfig } from "./config.ts";

/** Why a server may not be counted by its disk. */
export type DiskDoubt = "old-disk" | "newer-file";

/** Stands for the disk of a voter that was not there when it became one. */
export const ANY_DISK = "0";

/** A configuration as the log and the links carry it. */
export function encodeMembers(members: Members): Uint8Array {
  return new TextEncoder().encode(membersText(members));
}

/** Undefined for bytes that are no configuration. */
export function decodeMembers(bytes: Uint8Array): Members | undefined {
  try {
    return parseMembers(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The configurations of the ensemble, as far as this server knows them: the committed one, and the
 * last one that its log has seen. While they differ, a change is under way, and quorums of both are
 * needed wherever servers are counted:
 *
 * 1. Servers 1, 2, 3 change to 1, 4, 5: S1 has logged it, and 4 and 5 acked it.
 * 2. S1 dies. With the new configuration alone, S4 and S5 elect S4.
 * 3. With the old one alone, S2 and S3 elect S3, since they know nothing of the change.
 *
 * Two leaders commit different entries.
 *
 * Invariant: the last seen one is as new as the committed one, or newer.
 */
export class KnownMembers {
  readonly #config: PeerConfig;
  readonly #changed: () => void;
  #committed: Members | undefined;
  #lastSeen: Members | undefined;
  #heard: Members | undefined;
  /** The version of the committed one that the log has, or was asked to write. */
  #written: Zxid;
  #isLearned = false;
  #areDisksKnown: boolean;
  /** The lists of other servers that have theirs from their files. */
  readonly #filesOf = new Map<ServerId, string>();
  #verifier: QuorumVerifier;

  /**
   * @param durable what the log holds: newer configurations than the one that the server was given
   * @param changed called after each change of what is known
   */
  constructor(config: PeerConfig, durable: LogState, changed: () => void) {
    this.#config = config;
    this.#changed = changed;
    const { members } = config;
    // The files of this server may have been edited since: that is a wish, and no list by which
    // anything counts.
    // rule: the-list-in-force-is-data
    const stored = members === undefined ? undefined : decoded(durable.committedConfig);
    this.#written = versionOf(stored);
    const lastSeen = members === undefined ? undefined : decoded(durable.lastSeenConfig);
    this.#committed = withCommentsOf(withCommentsOf(newerOf(stored, members), stored), lastSeen);
    this.#lastSeen = newerOf(lastSeen, this.#committed);
    this.#areDisksKnown =
      versionOf(this.#committed) === ZXID_NONE ||
      [stored, lastSeen].some((logged) => versionOf(logged) === versionOf(this.#committed));
    this.#verifier = this.#quorums();
  }

  /** Whether the ensemble can be changed while it runs. */
  get isChangeable(): boolean {
    return this.#committed !== undefined;
  }

  /**
   * Whether there is a configuration that a quorum agreed on, and not only a list in this server's
   * files.
   */
  get isAgreed(): boolean {
    return versionOf(this.#committed) !== ZXID_NONE || versionOf(this.#lastSeen) !== ZXID_NONE;
  }

  /** In force. Undefined where the ensemble cannot be changed. */
  get committed(): Members | undefined {
    return this.#committed;
  }

  /** In force once it is committed. */
  get lastSeen(): Members | undefined {
    return this.#lastSeen;
  }

  /**
   * A change that another server has logged and this one has not. It may be cut: it counts nowhere,
   * and names servers that may be asked for the leader, and one of which may lead.
   */
  get heard(): Members | undefined {
    return this.#heard;
  }

  /**
   * Whether another server sent a configuration that it knew to be committed. So there is a
   * history, and a server without one founds no ensemble:
   *
   * 1. S2 is the ensemble, changes it to S3, and loses its disk.
   * 2. S1 observes, and was down since before the change: it sends S2 the configuration of S2
   *    alone, by which S2 is a quorum.
   */
  get isLearned(): boolean {
    return this.#isLearned;
  }

  /**
   * Whether the names of disks came with the committed configuration. Files have none of them:
   *
   * 1. S2 runs on an empty disk, which configuration 9 names, and writes 9 to its dynamic file.
   * 2. It has its old disk again, whose log knows configuration 4. Its file knows 9.
   * 3. By the file alone, any disk of S2 would count.
   *
   * A server with a history does not vote until it hears the names, or {@link hearFile} shows that
   * no voter has them.
   */
  get areDisksKnown(): boolean {
    return this.#areDisksKnown;
  }

  /** Whether a change was logged that is not known to be committed. */
  get isChanging(): boolean {
    return this.#committed !== this.#lastSeen;
  }

  /**
   * Whether the ensemble serves no clients. A change that opens it counts once it is committed:
   *
   * 1. S1 leads, and logs the change. No other server has it.
   * 2. S1 serves a client, and dies.
   * 3. The others never open, and what the client saw is in none of their histories.
   */
  get areClientsClosed(): boolean {
    // rule: clients-are-served-once-the-opening-is-committed
    return (this.#committed?.clients ?? "open") !== "open";
  }

  /** Whether the ensemble has served clients, and an operator has closed it since. */
  get areClientsClosedAgain(): boolean {
    return this.#committed?.clients === "closed-again";
  }

  /** Tells quorums: one counts in both configurations while a change is logged. */
  get verifier(): QuorumVerifier {
    return this.#verifier;
  }

  /**
   * The voters in elections: the present ones. A quorum of them is part of every quorum that
   * counts, and all of them know each other:
   *
   * 1. Server 2 changes its ensemble of one to server 4 alone, and logs that.
   * 2. It restarts, and needs server 4 as well, which has not seen the change and votes for no
   *    server.
   * 3. Elected alone, S2 is found by S4, which it counts when it follows.
   */
  get electors(): QuorumVerifier {
    return this.#committed?.verifier ?? this.#config.verifier;
  }

  /**
   * The servers that may be elected: the candidates of the present configuration, and those of a
   * change of it.
   *
   * 1. Servers 1, 2, 3 change to 1, 2, 3, 4: S1, S3 and S4 log that, and S3 and S4 an entry behind
   *    it.
   * 2. S3 dies. The entry may be committed, so neither S1 nor S2 may lead, and with S1 and S2 alone
   * the change needs S4: it leads, elected by S1 and S2.
   */
  mayLead(sid: ServerId): boolean {
    const changes = [this.#lastSeen, this.#heard];
    return this.electors.candidates.has(sid) || changes.some((change) => change?.verifier.candidates.has(sid) === true);
  }

  /** All that are asked for the leader. Those that are no electors are not counted. */
  get acquaintances(): ReadonlySet<ServerId> {
    const { voters } = this.#verifier;
    if (this.#heard === undefined && !this.#isLearned) return voters;
    // A learned configuration may be an old one, whose servers have gone: those of the files may
    // know more.
    const known = this.#isLearned ? this.#config.verifier.voters : [];
    return new Set([...voters, ...(this.#heard?.verifier.voters ?? []), ...known]);
  }

  /**
   * Whether this server gets what is committed and has no vote: an observer, or one that is not
   * listed.
   */
  get isObserver(): boolean {
    return this.isChangeable ? !this.#verifier.voters.has(this.#config.sid) : this.#config.isObserver;
  }

  /**
   * A change was logged, after {@link changeFollows}, or came with a leader's history.
   *
   * @param replaced with a history: the committed one, if the last one is not
   */
  see(members: Members, replaced?: Members): void {
    this.#committed = newerOf(replaced, this.#committed);
    if (this.#committed !== undefined && members.version < this.#committed.version) return;
    // rule: a-change-waits-for-its-commit
    this.#areDisksKnown = true;
    if (members.version === this.#committed?.version) this.#committed = withCommentsOf(this.#committed, members);
    this.#lastSeen = members.version === this.#committed?.version ? this.#committed : members;
    this.#heard = undefined;
    this.#moved();
  }

  /**
   * A history without any configuration replaces this server's: a change that it has logged is cut.
   *
   * 1. Files name the members. S1 leads, and proposes the first list that all have in their files.
   * 2. It loses its followers, and S3 leads with a history that ends before that.
   * 3. S1 follows S3, and the next change comes. S1 would take the cut one for the one that this
   *    replaces, and count by both.
   *
   * @returns the configuration that is in force, to be written as the last one; undefined where
   *   nothing was cut
   */
  cutChange(): Uint8Array | undefined {
    if (this.#committed === undefined || !this.isChanging) return undefined;
    this.#lastSeen = this.#committed;
    this.#moved();
    return encodeMembers(this.#committed);
  }

  /**
   * Entries up to here are committed: a change among them comes into force, whether or not the disk
   * knows. Until then both configurations count here.
   *
   * @param write makes the configuration durable as the committed one
   */
  commit(through: Zxid, write: (committed: Uint8Array) => void): void {
    const last = this.#lastSeen;
    if (last === undefined || last.version <= this.#written || last.version > through) return;
    this.changeFollows(write);
  }

  /**
   * The log gets a change, which was proposed once the one before it was committed. A disk names
   * the one that a change replaces as the committed one, also where another server said so first:
   *
   * 1. Servers 1, 2, 3 change to 1, 2, 3, 4. S3 is away; then S4 tells it of that, in an election.
   * 2. It follows S4, which logs a change to 1, 2, 3, and so does S3.
   * 3. S3 restarts with 1, 2, 3 in either place, and leads with S2: two of four.
   *
   * @param write makes a configuration durable as the committed one, before the change
   */
  changeFollows(write: (committed: Uint8Array) => void): void {
    const last = this.#lastSeen;
    if (last === undefined) return;
    // rule: a-change-beside-the-one-that-it-replaces
    if (last.version > this.#written) write(encodeMembers(last));
    this.#written = laterOf(this.#written, last.version);
    if (!this.isChanging) return;
    this.#committed = last;
    this.#moved();
  }

  /**
   * A history is installed that ends with a change of this configuration.
   *
   * @returns whether it is written with the history: the log may name a newer one, since the leader
   *   need not know that the change is committed
   */
  isWrittenWithHistory(committed: Members): boolean {
    if (committed.version <= this.#written) return false;
    this.#written = committed.version;
    return true;
  }

  /**
   * Whether a configuration that another server knows to be committed says more than the known one:
   * it is newer, or has the names of disks that this server does not know.
   */
  isNews(version: Zxid, hasDisks: boolean): boolean {
    if (this.#committed === undefined) return false;
    const lacksDisks = !this.#areDisksKnown && hasDisks;
    return version > this.#committed.version || (version === this.#committed.version && lacksDisks);
  }

  /**
   * Another server knows this configuration to be committed.
   *
   * It is not from a history where a server without one has it from its files, and has no disks
   * where the server does not know their names.
   *
   * @returns whether it says more than the known one
   */
  adopt(
    members: Members,
    { isFromHistory = true, hasDisks = true }: { readonly isFromHistory?: boolean; readonly hasDisks?: boolean } = {},
  ): boolean {
    if (!this.isNews(members.version, hasDisks)) return false;
    this.#isLearned ||= isFromHistory;
    this.#committed = members;
    this.#lastSeen = laterWith(this.#lastSeen, members);
    this.#areDisksKnown = hasDisks;
    this.#heard = undefined;
    this.#moved();
    return true;
  }

  /**
   * Another server has its configuration from its files, and has a history; undefined where it has
   * it from its log, or is gone. If each voter of the list says so, and has the same list, no voter
   * could know the names: all are counted. An operator has edited the files of all, or has put
   * older disks of all in place.
   */
  hearFile(from: ServerId, members: Members | undefined): void {
    if (members === undefined) this.#filesOf.delete(from);
    else this.#filesOf.set(from, membersText(members));
    if (this.#areDisksKnown || this.#committed === undefined) return;
    const text = membersText(this.#committed);
    const { voters } = this.#committed.verifier;
    this.#areDisksKnown = [...voters].every((sid) => sid === this.#config.sid || this.#filesOf.get(sid) === text);
  }

  /** Another server has logged this change. @returns whether it is news */
  hear(change: Members): boolean {
    const known = newerOf(newerOf(this.#heard, this.#lastSeen), this.#committed);
    if (known === undefined || change.version <= known.version) return false;
    this.#heard = change;
    this.#moved();
    return true;
  }

  /** Whether the servers that wait to follow this one have elected it. */
  isElectedBy(early: readonly ServerId[]): boolean {
    const { sid } = this.#config;
    // A server that a change makes a voter gets no votes: the present voters come when they elect
    // it.
    const isNext = !this.electors.voters.has(sid) && this.electors.isQuorum(early);
    return isNext || this.#verifier.isQuorum([sid, ...early]);
  }

  isVoter(sid: ServerId): boolean {
    // rule: unlisted-servers-have-no-vote
    return this.#verifier.voters.has(sid);
  }

  /**
   * Whether a server may be counted by its disk: no other one has taken its place, as far as this
   * server knows. A change that is under way decides as well, since it may be committed elsewhere.
   *
   * @param diskId undefined for a server that has none, as those of version 0.1.0
   */
  hasDisk(sid: ServerId, diskId: string | undefined): boolean {
    // rule: an-old-disk-is-not-counted
    return [this.#committed, this.#lastSeen].every((members) => mayHaveDisk(members, sid, diskId));
  }

  /** The configuration in force at a zxid: the newest that is not newer than it. */
  at(zxid: Zxid): Members | undefined {
    const { committed, lastSeen } = this;
    return lastSeen !== undefined && lastSeen.version <= zxid ? lastSeen : committed;
  }

  #moved(): void {
    this.#verifier = this.#quorums();
    this.#changed();
  }

  #quorums(): QuorumVerifier {
    const { committed, lastSeen } = this;
    if (committed === undefined || lastSeen === undefined) return this.#config.verifier;
    // rule: both-configurations-count
    return committed === lastSeen ? committed.verifier : jointVerifier(committed.verifier, lastSeen.verifier);
  }
}

function decoded(bytes: Uint8Array | undefined): Members | undefined {
  return bytes === undefined ? undefined : decodeMembers(bytes);
}

function mayHaveDisk(members: Members | undefined, sid: ServerId, diskId: string | undefined): boolean {
  const named = members?.disks.get(sid);
  return named === undefined || named === ANY_DISK || named === diskId;
}

/** Files have the servers of a configuration, and not what its comments say. */
function withCommentsOf(members: Members | undefined, same: Members | undefined): Members | undefined {
  if (members === undefined || same === undefined || members.version !== same.version) return members;
  return { ...members, disks: same.disks, clients: same.clients };
}

function newerOf(a: Members | undefined, b: Members | undefined): Members | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.version > b.version ? a : b;
}

/** The last configuration that a log has seen, beside one that is committed. */
function laterWith(lastSeen: Members | undefined, committed: Members): Members {
  return lastSeen === undefined || lastSeen.version <= committed.version ? committed : lastSeen;
}

/** The version of a configuration, ZXID_NONE where there is none. */
export function versionOf(members: Members | undefined): Zxid {
  return members?.version ?? ZXID_NONE;
}
