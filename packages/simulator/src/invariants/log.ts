import {
  epochOf,
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  type LogPosition,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import { decodeMembers, versionOf } from "@zooid/zab";
import type { SimServer } from "../cluster/server.ts";
import type { ElectionInvariants } from "./election.ts";
import type { Facts } from "./facts.ts";
import type { KnownDisk } from "./known-disks.ts";
import { frameHash } from "./proposals.ts";
import { Violation } from "./violation.ts";

/**
 * Logs and disks: promises and epochs only rise, logs hold what was proposed, in that order, states
 * cover what was purged, and every quorum has what is committed (I2, I3, I5, I6, I7, I11, I25, I29,
 * 2.1, 5.2). Only what is new on a disk is looked at.
 */
export class LogInvariants {
  readonly #facts: Facts;
  readonly #election: ElectionInvariants;
  /** The log that each server's disk showed when it was last looked at. */
  readonly #seen = new WeakMap<SimServer, DurableLog>();
  readonly #chains = new Map<number, LogPosition["chain"]>();

  constructor(facts: Facts, election: ElectionInvariants) {
    this.#facts = facts;
    this.#election = election;
  }

  stepped(server: SimServer): void {
    const { durable } = server.disk;
    if (this.#seen.get(server) === durable) return;
    this.#seen.set(server, durable);
    const disk = this.#facts.disks.get(server.sid);
    if (disk === undefined) this.#facts.disks.add(server.sid, durable);
    else this.#changed(server.sid, disk, durable, server);
  }

  /** A server's life has ended: from now on what is on its disk counts. */
  crashed(sid: ServerId, durable: DurableLog): void {
    const disk = this.#facts.disks.get(sid);
    if (disk === undefined) this.#facts.disks.addCrashed(sid, durable);
    else this.#changed(sid, disk, durable);
    this.#checkKept(`the crash of server ${sid}`);
  }

  wiped(sid: ServerId): void {
    this.#facts.disks.empty(sid, this.#election.newestEpoch);
    this.#checkKept(`wiping server ${sid}`);
  }

  #changed(sid: ServerId, disk: KnownDisk, now: DurableLog, server?: SimServer): void {
    const before = disk.durable;
    disk.durable = now;
    if (before === now) return;
    this.#checkEpochs(sid, before, now);
    this.#checkHistory(sid, now);
    this.#checkConfigurations(sid, before, now);
    const { currentEpoch, tail, stateFile } = now;
    const isInstall =
      currentEpoch !== before.currentEpoch ||
      tail.zxid < before.tail.zxid ||
      stateFile !== before.stateFile ||
      (before.amnesiac && !now.amnesiac);
    if (isInstall) {
      if (
        disk.isWiped &&
        disk.isOld !== true &&
        this.#election.owner(currentEpoch) !== undefined &&
        currentEpoch >= disk.emptiedIn
      ) {
        // It has all of an epoch that a quorum holds without it: whatever it forgot, a member of
        // any quorum knows. There may be a newer epoch by now, but none in which it acked anything.
        disk.isWiped = false;
        this.#facts.coverage.reached("wiped voter votes again");
      }
      this.#facts.skipped.installed(sid, now);
      this.#checkKept(`a history install of server ${sid}`);
    }
    if (disk.isWiped && this.#hasForgottenNothing(before, now)) disk.isWiped = false;
    if (server === undefined) return;
    if (now.floor !== before.floor || stateFile !== before.stateFile) checkCoverage(server);
    if (isInstall) this.#checkEntries(server, now.floor.zxid);
    else if (tail.zxid !== before.tail.zxid) this.#checkEntries(server, before.tail.zxid);
  }

  /**
   * A wiped server's promise is above every other one, and no server has ever logged anything: it
   * has forgotten no ack, and no promise that still matters. A leader that hears all voters counts
   * it.
   */
  #hasForgottenNothing(before: DurableLog, { promise }: DurableLog): boolean {
    const { disks } = this.#facts;
    if (promise.epoch === before.promise.epoch || !disks.areBlank) return false;
    return [...disks.all()].every(({ durable }) => durable.promise.epoch <= promise.epoch);
  }

  #checkEpochs(sid: ServerId, before: DurableLog, { promise, currentEpoch, tail }: DurableLog): void {
    const old = before.promise;
    if (promise.epoch < old.epoch) throw new Violation("I2", `server ${sid}'s promise falls`);
    if (promise.epoch === old.epoch && (promise.sid !== old.sid || promise.incarnation !== old.incarnation)) {
      throw new Violation("I2", `server ${sid} promises epoch ${promise.epoch} twice`);
    }
    if (currentEpoch < before.currentEpoch) throw new Violation("I3", `server ${sid}'s currentEpoch falls`);
    if (currentEpoch > promise.epoch) throw new Violation("I3", `server ${sid} holds an epoch that it did not promise`);
    if (epochOf(tail.zxid) > currentEpoch) {
      throw new Violation("I5", `server ${sid} has ${formatZxid(tail.zxid)} and holds only epoch ${currentEpoch}`);
    }
  }

  #checkHistory(sid: ServerId, { commitHint, tail, identity }: DurableLog): void {
    if (this.#facts.verifier.voters.size <= 1) return;
    if (!this.#facts.committed.has(commitHint)) {
      throw new Violation("2.1", `server ${sid} notes ${formatZxid(commitHint)} as committed`);
    }
    if (tail.zxid !== ZXID_NONE && identity.ensembleId === "") {
      // Another ensemble could take it for its own member, or it could begin an ensemble of its
      // own.
      throw new Violation("5.2", `server ${sid} has a history and no ensemble id`);
    }
  }

  #checkConfigurations(sid: ServerId, before: DurableLog, { committedConfig, lastSeenConfig }: DurableLog): void {
    if (before.committedConfig === committedConfig && before.lastSeenConfig === lastSeenConfig) return;
    const [committed, lastSeen] = [committedConfig, lastSeenConfig].map((config) =>
      versionOf(config && decodeMembers(config)),
    ) as [Zxid, Zxid];
    const { configurations } = this.#facts;
    if (!configurations.mayBeCommitted(committed)) {
      throw new Violation("I29", `server ${sid} names ${formatZxid(committed)} as committed, and no quorum has it`);
    }
    if (configurations.mayBeBeside(committed, lastSeen)) return;
    const named = `names ${formatZxid(committed)} as committed beside ${formatZxid(lastSeen)}`;
    throw new Violation("I29", `server ${sid} ${named}, which replaces a newer configuration`);
  }

  /**
   * New entries are what their epoch's leader proposed, each after the one that it was proposed
   * after.
   */
  #checkEntries({ sid, disk }: SimServer, after: Zxid): void {
    const { tail } = disk.durable;
    const { bytes } = disk.log.readNow(after, Number.POSITIVE_INFINITY);
    let previous = after;
    for (let at = 0; at < bytes.length; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const zxid = frameZxid(bytes, at);
      const proposal = this.#facts.proposals.get(zxid);
      if (proposal === undefined) {
        throw new Violation("I7", `server ${sid} logs ${formatZxid(zxid)}, which its epoch's leader never proposed`);
      }
      if (proposal.previous !== previous || proposal.hash !== frameHash(bytes, at)) {
        throw new Violation("I6", `server ${sid} logs another ${formatZxid(zxid)} than was proposed`);
      }
      previous = zxid;
    }
    const chain = this.#chains.get(tail.zxid);
    if (chain === undefined) this.#chains.set(tail.zxid, tail.chain);
    else if (chain !== tail.chain) {
      throw new Violation("I6", `server ${sid}'s history up to ${formatZxid(tail.zxid)} is not that of others`);
    }
  }

  /** I11: some member of every quorum has everything that is committed. */
  #checkKept(after: string): void {
    const committed = this.#facts.committed.last;
    if (committed === ZXID_NONE) return;
    for (const { verifier, known } of this.#facts.configurations.electing(committed)) {
      const without = this.#facts.disks.votersWithout(known, verifier.voters);
      if (!verifier.isQuorum(without)) continue;
      throw new Violation("I11", `after ${after} the quorum ${without.join(", ")} lacks ${formatZxid(known)}`);
    }
  }
}

function checkCoverage({ sid, disk }: SimServer): void {
  const { floor } = disk.durable;
  const state = disk.state?.position.zxid ?? ZXID_NONE;
  if (state >= floor.zxid) return;
  const range = `begins after ${formatZxid(floor.zxid)}, its state ends at ${formatZxid(state)}`;
  throw new Violation("I25", `server ${sid}'s log ${range}`);
}
