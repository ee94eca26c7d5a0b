import {
  composeZxid,
  counterOf,
  epochOf,
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  type LinkRef,
  type LogPosition,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { SimServer } from "../cluster/server.ts";
import { digestOf } from "../cluster/state-image.ts";
import type { CoverageCounts } from "../runs/coverage.ts";
import { Violation } from "./violation.ts";

/** What one disk would show after a power cut, as last seen. */
interface GhostDisk {
  durable: DurableLog;
  /** It was emptied, and no leader has brought it level since: it must be counted nowhere. */
  isWiped: boolean;
  /** The newest epoch that a quorum held when it was emptied, the last time: what was acked here was acked in none above it. */
  readonly emptiedIn: number;
  /** What it held before that. What was acked then was true when it was acked. */
  readonly lost: readonly DurableLog[];
}

/** What was last seen of one life of a server. */
interface GhostServer {
  durable: DurableLog | undefined;
  committed: number;
  /** How many committed transactions it has applied; its place in the sequence. */
  appliedCount: number;
  isDiscovering: boolean;
  /** The end of what it has proposed, or of the history that its epoch began with. */
  proposed: Zxid;
  readonly acked: Map<LinkRef, Zxid>;
}

interface Owner {
  readonly server: SimServer;
  /** The end of the history that the epoch began with. */
  readonly history: Zxid;
}

interface Proposal {
  readonly hash: number;
  readonly previous: Zxid;
}

/** What counts from `counter` on in some epoch can never be committed any more, since `killedBy` has its leader. */
interface Dead {
  readonly counter: number;
  readonly killedBy: number;
}

/**
 * The invariants of the replication (reference on ZAB, 1.4), asserted while an ensemble runs. What is true of the whole ensemble is kept
 * here, outside of the servers: who owns an epoch, what was proposed, in which order it was committed, what every disk holds.
 *
 * All of it is incremental. Within one epoch there is one stream of proposals, and each knows its predecessor; so a log is known by the
 * end of each of its epochs, and only what is new is looked at.
 */
export class Invariants {
  readonly #verifier: QuorumVerifier;
  readonly #coverage: CoverageCounts;
  readonly #disks = new Map<ServerId, GhostDisk>();
  /** Disks that were emptied, and nothing has been written to them since. */
  readonly #emptied = new Map<ServerId, Pick<GhostDisk, "emptiedIn" | "lost">>();
  readonly #servers = new Map<SimServer, GhostServer>();
  readonly #proposals = new Map<number, Proposal>();
  readonly #lastProposed = new Map<number, number>();
  readonly #chains = new Map<number, LogPosition["chain"]>();
  /** Who had an epoch's promises; who had its history accepted. */
  readonly #promised = new Map<number, SimServer>();
  readonly #owners = new Map<number, Owner>();
  readonly #dead = new Map<number, Dead>();
  readonly #committed: Zxid[] = [];
  readonly #places = new Map<number, number>();
  readonly #digests = new Map<number, string>();
  readonly #invited = new Map<number, SimServer>();
  #newestOwned = 0;

  constructor(verifier: QuorumVerifier, coverage: CoverageCounts) {
    this.#verifier = verifier;
    this.#coverage = coverage;
  }

  /** The commit point: the highest zxid that any leader knew to be committed. */
  get committed(): Zxid {
    return this.#committed.at(-1) ?? ZXID_NONE;
  }

  get committedCount(): number {
    return this.#committed.length;
  }

  isCommitted(zxid: number): boolean {
    return zxid === ZXID_NONE || this.#places.has(zxid);
  }

  /** The epoch of the newest leader whose history a quorum has. */
  get newestEpoch(): number {
    return this.#newestOwned;
  }

  isWiped(sid: ServerId): boolean {
    return this.#emptied.has(sid) || this.#disks.get(sid)?.isWiped === true;
  }

  // What happens to disks

  /** Whether a voter's disk holds an epoch, and with it a history. */
  isFormed(sid: ServerId): boolean {
    return (this.#disks.get(sid)?.durable.currentEpoch ?? 0) > 0;
  }

  /** A server's life has ended: what is on its disk now counts. */
  crashed(sid: ServerId, durable: DurableLog): void {
    const disk = this.#disks.get(sid);
    if (disk !== undefined) this.#diskChanged(sid, disk, durable);
    else this.#disks.set(sid, { durable, isWiped: false, emptiedIn: 0, lost: [] });
    this.#checkKept(`the crash of server ${sid}`);
  }

  wiped(sid: ServerId): void {
    const disk = this.#disks.get(sid);
    const lost = disk === undefined ? (this.#emptied.get(sid)?.lost ?? []) : [...disk.lost, disk.durable];
    this.#emptied.set(sid, { emptiedIn: this.#newestOwned, lost });
    this.#disks.delete(sid);
    this.#checkKept(`wiping server ${sid}`, sid);
  }

  // What servers do

  stepped(server: SimServer): void {
    if (server.isUp) this.#check(server);
  }

  /** A leader hands entries to its log. */
  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    const ghost = this.#ghost(server);
    const epoch = server.replica.zab.epoch;
    const owner = this.#owners.get(epoch);
    if (owner?.server !== server) {
      throw new Violation("I8", `server ${server.sid} proposes in epoch ${epoch}, which it does not own`);
    }
    if (epochOf(ghost.proposed) !== epoch && server.replica.tree.applied < owner.history) {
      throw new Violation(
        "I22",
        `server ${server.sid} proposes before it has applied ${formatZxid(owner.history)}, its own history`,
      );
    }
    for (let at = start; at < end; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const zxid = frameZxid(bytes, at);
      const due = epochOf(ghost.proposed) === epoch ? ghost.proposed + 1 : composeZxid(epoch, 1);
      if (zxid !== due || this.#proposals.has(zxid)) {
        throw new Violation(
          "I8",
          `server ${server.sid} proposes ${formatZxid(zxid)}, ${formatZxid(due as Zxid)} is due`,
        );
      }
      this.#proposals.set(zxid, { hash: hashOf(bytes, at), previous: ghost.proposed });
      this.#lastProposed.set(epoch, counterOf(zxid));
      ghost.proposed = zxid;
      const dead = this.#dead.get(epoch);
      if (dead !== undefined && counterOf(zxid) >= dead.counter) this.#coverage.reached("proposal died");
    }
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    const { durable } = server.disk;
    switch (message.kind) {
      case "leader-info": {
        const { promise } = durable;
        if (promise.epoch !== message.epoch || promise.sid !== server.sid) {
          throw new Violation(
            "2.2",
            `server ${server.sid} names epoch ${message.epoch} and has not promised it itself`,
          );
        }
        const other = this.#invited.get(message.epoch);
        if (other !== undefined && other !== server) this.#coverage.reached("two leaders tried for one epoch");
        this.#invited.set(message.epoch, server);
        return;
      }
      case "ack-epoch":
        if (durable.promise.epoch !== server.replica.zab.epoch && this.#verifier.voters.has(server.sid)) {
          throw new Violation("2.2", `server ${server.sid} acks epoch ${server.replica.zab.epoch} and promised less`);
        }
        if (message.currentEpoch !== durable.currentEpoch || message.logged.zxid !== durable.tail.zxid) {
          throw new Violation("2.2", `server ${server.sid} tells its leader of a log that is not on its disk`);
        }
        if (message.isRepeated) this.#coverage.reached("promise repeated to the same leader");
        return;
      case "ack-new-leader":
        if (durable.currentEpoch !== message.epoch || durable.tail.zxid < message.through) {
          throw new Violation("I18", `server ${server.sid} accepts epoch ${message.epoch} before it is on its disk`);
        }
        this.#ghost(server).acked.set(link, message.through);
        return;
      case "ack": {
        const { acked } = this.#ghost(server);
        const before = acked.get(link);
        if (durable.tail.zxid < message.durable || !holds(durable, message.durable)) {
          throw new Violation("I17", `server ${server.sid} acks ${formatZxid(message.durable)}, not yet on its disk`);
        }
        if (before === undefined || message.durable < before) {
          throw new Violation("I19", `server ${server.sid} acks ${formatZxid(message.durable)} out of order`);
        }
        acked.set(link, message.durable);
        return;
      }
      case "up-to-date":
        this.#established(server);
        return;
      default:
    }
  }

  applying(server: SimServer, zxid: Zxid): void {
    if (!this.#places.has(zxid) && server.replica.zab.state === "leading") {
      this.#established(server);
      this.#commitMoved(server);
    }
    if (!this.#places.has(zxid) && this.#verifier.voters.size === 1) this.#extend(server.disk.durable, zxid);
    const place = this.#places.get(zxid);
    if (place === undefined) {
      throw new Violation("I15", `server ${server.sid} applies ${formatZxid(zxid)}, which is not committed`);
    }
    const ghost = this.#ghost(server);
    if (place !== ghost.appliedCount) {
      const due = this.#committed[ghost.appliedCount] ?? ZXID_NONE;
      throw new Violation("I13", `server ${server.sid} applies ${formatZxid(zxid)} where ${formatZxid(due)} is due`);
    }
    if (zxid > server.disk.durable.tail.zxid || !holds(server.disk.durable, zxid)) {
      throw new Violation("I14", `server ${server.sid} applies ${formatZxid(zxid)}, which is not on its disk`);
    }
  }

  applied(server: SimServer, zxid: Zxid): void {
    this.#ghost(server).appliedCount++;
    this.#checkDigest(server, zxid, "I23");
    this.#checkOwners(server);
  }

  /** The tree was replaced by a state. */
  loaded(server: SimServer): void {
    const { applied } = server.replica.tree;
    const place = this.#places.get(applied);
    if (place === undefined && applied !== ZXID_NONE) {
      throw new Violation(
        "I15",
        `server ${server.sid} loads a state at ${formatZxid(applied)}, which is not committed`,
      );
    }
    this.#ghost(server).appliedCount = (place ?? -1) + 1;
    this.#checkDigest(server, applied, "I24");
    this.#checkOwners(server);
  }

  /** Every ephemeral belongs to a session that a transaction created and none has ended: else none would remove it. */
  #checkOwners({ sid, replica: { tree } }: SimServer): void {
    let owned = 0;
    tree.forEachSession((high, low) => {
      owned += tree.ephemeralCountOf(high, low);
    });
    if (owned === tree.ephemeralCount) return;
    const lost = tree.ephemeralCount - owned;
    throw new Violation("E1", `server ${sid} has ${lost} ephemerals of sessions that are not replicated`);
  }

  #checkDigest(server: SimServer, zxid: Zxid, rule: string): void {
    const digest = digestOf(server.replica.tree);
    const known = this.#digests.get(zxid);
    if (known === undefined) this.#digests.set(zxid, digest);
    else if (known !== digest) {
      throw new Violation(rule, `server ${server.sid}'s tree at ${formatZxid(zxid)} is ${digest}, others had ${known}`);
    }
  }

  #check(server: SimServer): void {
    const ghost = this.#ghost(server);
    const { durable } = server.disk;
    if (durable !== ghost.durable) {
      ghost.durable = durable;
      const disk = this.#disks.get(server.sid);
      if (disk === undefined) {
        const { emptiedIn, lost } = this.#emptied.get(server.sid) ?? { emptiedIn: 0, lost: [] };
        this.#disks.set(server.sid, { durable, isWiped: this.#emptied.delete(server.sid), emptiedIn, lost });
      } else this.#diskChanged(server.sid, disk, durable, server);
    }
    const { zab, tree } = server.replica;
    if (zab.state === "leading") {
      if (zab.phase === "discovery") ghost.isDiscovering = true;
      else if (ghost.isDiscovering) {
        ghost.isDiscovering = false;
        this.#hasPromises(server);
      }
      // Before, it knows of nothing but what was committed without it.
      if (zab.phase === "broadcast" || !this.isCommitted(zab.committed)) this.#established(server);
      if (this.#owners.get(zab.epoch)?.server === server) this.#commitMoved(server);
      return;
    }
    ghost.isDiscovering = false;
    if (zab.committed === ghost.committed) return;
    ghost.committed = zab.committed;
    if (!this.isCommitted(zab.committed)) {
      throw new Violation("I16", `server ${server.sid} believes that ${formatZxid(zab.committed)} is committed`);
    }
    if (zab.phase === "broadcast" && tree.applied > zab.committed) {
      throw new Violation("I14", `server ${server.sid} has applied more than it knows to be committed`);
    }
  }

  // Leaders

  #hasPromises(server: SimServer): void {
    const { epoch } = server.replica.zab;
    const other = this.#promised.get(epoch);
    if (other !== undefined && other !== server) {
      throw new Violation("I1", `epoch ${epoch} was promised to server ${other.sid} and to server ${server.sid}`);
    }
    this.#promised.set(epoch, server);
    const { bootCount } = server.disk.durable.identity;
    const sids = this.#voices(
      ({ promise }) =>
        promise.epoch > epoch ||
        (promise.epoch === epoch && promise.sid === server.sid && promise.incarnation === bootCount),
    );
    if (!this.#verifier.isQuorum(sids)) {
      throw new Violation("I31", `server ${server.sid} begins epoch ${epoch} with the promises of ${sids.join(", ")}`);
    }
  }

  /** A quorum has accepted a leader's history, which is thereby committed. */
  #established(server: SimServer): void {
    const { epoch } = server.replica.zab;
    const owner = this.#owners.get(epoch);
    if (owner !== undefined) {
      if (owner.server === server) return;
      throw new Violation("I1", `epoch ${epoch} is led by server ${owner.server.sid} and by server ${server.sid}`);
    }
    const { durable } = server.disk;
    const history = durable.tail.zxid;
    const sids = this.#voices((each) => each.currentEpoch >= epoch && holds(each, history));
    if (!this.#verifier.isQuorum(sids)) {
      throw new Violation("I18", `server ${server.sid} leads epoch ${epoch}, which only ${sids.join(", ")} hold`);
    }
    this.#owners.set(epoch, { server, history });
    this.#ghost(server).proposed = history;
    if (epoch < this.#newestOwned) {
      // It is late: a later epoch has its leader, which took this history over.
      if (!this.isCommitted(history)) throw new Violation("I12", `epoch ${epoch} begins behind a later one, alone`);
      return;
    }
    if (!holds(durable, this.committed)) {
      throw new Violation(
        "I12",
        `server ${server.sid} leads epoch ${epoch} without ${formatZxid(this.committed)}, which is committed`,
      );
    }
    this.#newestOwned = epoch;
    // The quorum is found out a little after the leader has it; meanwhile it may have brought one level that lost its disk.
    for (const disk of this.#disks.values()) if (disk.durable.currentEpoch === epoch) disk.isWiped = false;
    this.#bury(epoch, durable);
    if (history > this.committed) this.#coverage.reached("proposal of a dead leader survived");
    this.#extend(durable, history);
  }

  /** What older leaders proposed and this history lacks is dead. */
  #bury(epoch: number, durable: DurableLog): void {
    for (const [older, last] of this.#lastProposed) {
      if (older >= epoch) continue;
      const kept = durable.epochs.find((range) => range.epoch === older)?.last ?? 0;
      const dead = this.#dead.get(older);
      if (dead !== undefined && dead.counter <= kept) {
        throw new Violation("I20", `${formatZxid(composeZxid(older, kept))} was skipped and is back in epoch ${epoch}`);
      }
      if (dead === undefined) {
        this.#dead.set(older, { counter: kept + 1, killedBy: epoch });
        if (last > kept) this.#coverage.reached("proposal died");
      }
    }
  }

  #commitMoved(server: SimServer): void {
    const ghost = this.#ghost(server);
    const { committed } = server.replica.zab;
    if (committed === ghost.committed) return;
    ghost.committed = committed;
    if (committed <= this.committed) {
      if (!this.isCommitted(committed)) {
        throw new Violation("I10", `server ${server.sid} commits ${formatZxid(committed)}, others went another way`);
      }
      return;
    }
    const sids = this.#voices((durable) => holds(durable, committed));
    if (!this.#verifier.isQuorum(sids)) {
      throw new Violation(
        "I9",
        `server ${server.sid} commits ${formatZxid(committed)}, which only ${sids.join(", ")} hold`,
      );
    }
    const { durable } = server.disk;
    if (epochOf(this.committed) !== epochOf(committed) && !holds(durable, this.committed)) {
      throw new Violation("I10", `server ${server.sid} commits ${formatZxid(committed)} without what came before`);
    }
    this.#extend(durable, committed);
  }

  /** The committed sequence grows along a log, whose own epoch may reach further than its disk. */
  #extend(durable: DurableLog, through: Zxid): void {
    const from = this.committed;
    if (through <= from) return;
    for (const { epoch, first, last } of durable.epochs) {
      if (epoch < epochOf(from) || epoch >= epochOf(through)) continue;
      this.#extendEpoch(epoch, epoch === epochOf(from) ? counterOf(from) + 1 : first, last);
    }
    const epoch = epochOf(through);
    this.#extendEpoch(epoch, epoch === epochOf(from) ? counterOf(from) + 1 : 1, counterOf(through));
  }

  #extendEpoch(epoch: number, first: number, last: number): void {
    for (let counter = first; counter <= last; counter++) {
      const zxid = composeZxid(epoch, counter);
      const proposal = this.#proposals.get(zxid);
      if (proposal === undefined) throw new Violation("I7", `${formatZxid(zxid)} is committed and nobody proposed it`);
      if (proposal.previous !== this.committed) {
        throw new Violation("I10", `${formatZxid(zxid)} is committed behind ${formatZxid(this.committed)}`);
      }
      this.#places.set(zxid, this.#committed.push(zxid) - 1);
    }
  }

  // Disks

  #diskChanged(sid: ServerId, disk: GhostDisk, now: DurableLog, server?: SimServer): void {
    const before = disk.durable;
    disk.durable = now;
    if (before === now) return;
    const { promise, currentEpoch, tail } = now;
    if (promise.epoch < before.promise.epoch) throw new Violation("I2", `server ${sid}'s promise falls`);
    if (
      promise.epoch === before.promise.epoch &&
      (promise.sid !== before.promise.sid || promise.incarnation !== before.promise.incarnation)
    ) {
      throw new Violation("I2", `server ${sid} promises epoch ${promise.epoch} twice`);
    }
    if (currentEpoch < before.currentEpoch) throw new Violation("I3", `server ${sid}'s currentEpoch falls`);
    if (currentEpoch > promise.epoch) throw new Violation("I3", `server ${sid} holds an epoch that it did not promise`);
    if (epochOf(tail.zxid) > currentEpoch) {
      throw new Violation("I5", `server ${sid} has ${formatZxid(tail.zxid)} and holds only epoch ${currentEpoch}`);
    }
    if (!this.isCommitted(now.commitHint) && this.#verifier.voters.size > 1) {
      throw new Violation("2.1", `server ${sid} notes ${formatZxid(now.commitHint)} as committed`);
    }
    if (tail.zxid !== ZXID_NONE && now.identity.ensembleId === "" && this.#verifier.voters.size > 1) {
      // It could be taken for another ensemble's, or found one of its own on it.
      throw new Violation("5.2", `server ${sid} has a history and does not know whose it is`);
    }
    const isFlip =
      currentEpoch !== before.currentEpoch || tail.zxid < before.tail.zxid || now.stateFile !== before.stateFile;
    if (isFlip) {
      if (disk.isWiped && this.#owners.has(currentEpoch) && currentEpoch >= disk.emptiedIn) {
        // It has all of an epoch that a quorum holds without it: whatever it forgot, one of any quorum knows. There may be a newer one
        // by now, but none in which it acked anything.
        disk.isWiped = false;
        this.#coverage.reached("wiped voter votes again");
      }
      this.#checkDead(sid, now);
      this.#checkKept(`a flip of server ${sid}`);
    }
    if (server === undefined) return;
    if (now.floor !== before.floor || now.stateFile !== before.stateFile) this.#checkCoverage(server);
    if (isFlip) this.#checkEntries(server, now.floor.zxid);
    else if (tail.zxid !== before.tail.zxid) this.#checkEntries(server, before.tail.zxid);
  }

  #checkCoverage(server: SimServer): void {
    const { floor } = server.disk.durable;
    const state = server.disk.state?.position.zxid ?? ZXID_NONE;
    if (state < floor.zxid) {
      throw new Violation(
        "I25",
        `server ${server.sid}'s log begins behind ${formatZxid(floor.zxid)}, its state ends at ${formatZxid(state)}`,
      );
    }
  }

  /** New entries are what their epoch's owner proposed, each behind the one that it was proposed behind. */
  #checkEntries(server: SimServer, after: Zxid): void {
    const { tail } = server.disk.durable;
    const { bytes } = server.disk.log.readNow(after, Number.POSITIVE_INFINITY);
    let previous = after;
    for (let at = 0; at < bytes.length; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const zxid = frameZxid(bytes, at);
      const proposal = this.#proposals.get(zxid);
      if (proposal === undefined) {
        throw new Violation(
          "I7",
          `server ${server.sid} logs ${formatZxid(zxid)}, which its epoch's leader never proposed`,
        );
      }
      if (proposal.previous !== previous || proposal.hash !== hashOf(bytes, at)) {
        throw new Violation("I6", `server ${server.sid} logs another ${formatZxid(zxid)} than was proposed`);
      }
      previous = zxid;
    }
    const chain = this.#chains.get(tail.zxid);
    if (chain === undefined) this.#chains.set(tail.zxid, tail.chain);
    else if (chain !== tail.chain) {
      throw new Violation("I6", `server ${server.sid}'s history up to ${formatZxid(tail.zxid)} is not that of others`);
    }
  }

  #checkDead(sid: ServerId, { epochs, currentEpoch }: DurableLog): void {
    for (const { epoch, last } of epochs) {
      const dead = this.#dead.get(epoch);
      if (dead === undefined || currentEpoch < dead.killedBy || last < dead.counter) continue;
      throw new Violation(
        "I20",
        `server ${sid} holds epoch ${currentEpoch} and ${formatZxid(composeZxid(epoch, last))}, which was skipped`,
      );
    }
  }

  /** Whatever quorum is left, one of it has all that is committed. */
  #checkKept(after: string, wiped?: ServerId): void {
    const { committed } = this;
    if (committed === ZXID_NONE) return;
    const without: ServerId[] = [];
    for (const sid of this.#verifier.voters) {
      if (sid === wiped || this.#emptied.has(sid)) continue;
      const disk = this.#disks.get(sid);
      if (disk === undefined || (!disk.isWiped && !holds(disk.durable, committed))) without.push(sid);
    }
    if (this.#verifier.isQuorum(without)) {
      throw new Violation("I11", `behind ${after} the quorum ${without.join(", ")} lacks ${formatZxid(committed)}`);
    }
  }

  /** Voters whose disk satisfies a condition, or did before it was lost: what they said then was true when they said it. */
  #voices(condition: (durable: DurableLog) => boolean): ServerId[] {
    const sids = new Set<ServerId>();
    for (const [sid, { durable, isWiped, lost }] of this.#disks) {
      if ((!isWiped && condition(durable)) || lost.some(condition)) sids.add(sid);
    }
    for (const [sid, { lost }] of this.#emptied) if (lost.some(condition)) sids.add(sid);
    return [...sids].filter((sid) => this.#verifier.voters.has(sid));
  }

  #ghost(server: SimServer): GhostServer {
    let ghost = this.#servers.get(server);
    if (ghost === undefined) {
      ghost = {
        durable: undefined,
        committed: -1,
        appliedCount: 0,
        isDiscovering: false,
        proposed: ZXID_NONE,
        acked: new Map(),
      };
      this.#servers.set(server, ghost);
    }
    return ghost;
  }
}

/** Whether a log has an entry or a state that contains it: by its epochs, never by comparing numbers. */
function holds({ epochs }: DurableLog, zxid: Zxid): boolean {
  if (zxid === ZXID_NONE) return true;
  const epoch = epochOf(zxid);
  const counter = counterOf(zxid);
  return epochs.some((range) => range.epoch === epoch && counter <= range.last);
}

function hashOf(bytes: Uint8Array, at: number): number {
  const end = at + FRAME_HEADER_BYTES + frameLength(bytes, at);
  let hash = 0;
  for (let i = at; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x0100_0193);
  return hash;
}
