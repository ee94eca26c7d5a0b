import { formatZxid, type PeerMessage, type Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { Facts } from "./facts.ts";
import { Violation } from "./violation.ts";

/** The leader whose history a quorum has accepted for an epoch. */
export interface Owner {
  readonly server: SimServer;
  /** The end of the history that the epoch began with. */
  readonly history: Zxid;
  /** The end of what it has proposed; of the history before its first proposal. */
  proposed: Zxid;
}

/**
 * Elections and epochs: an epoch has one leader, with the promises of a quorum, whose history a
 * quorum holds (I1, I12, I18, I31, 2.2).
 */
export class ElectionInvariants {
  readonly #facts: Facts;
  /** Leaders that have sent LEADERINFO for an epoch, the last one. */
  readonly #invited = new Map<number, SimServer>();
  /** Leaders that had an epoch's promises. */
  readonly #promised = new Map<number, SimServer>();
  readonly #owners = new Map<number, Owner>();
  readonly #discovering = new WeakSet<SimServer>();
  #newest = 0;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** The epoch of the newest leader whose history a quorum has. */
  get newestEpoch(): number {
    return this.#newest;
  }

  owner(epoch: number): Owner | undefined {
    return this.#owners.get(epoch);
  }

  sentLeaderInfo(server: SimServer, { epoch }: Extract<PeerMessage, { kind: "leader-info" }>): void {
    const { promise } = server.disk.durable;
    if (promise.epoch !== epoch || promise.sid !== server.sid) {
      throw new Violation("2.2", `server ${server.sid} names epoch ${epoch} and has not promised it itself`);
    }
    const other = this.#invited.get(epoch);
    if (other !== undefined && other !== server) this.#facts.coverage.reached("two leaders tried for one epoch");
    this.#invited.set(epoch, server);
  }

  sentAckEpoch(server: SimServer, message: Extract<PeerMessage, { kind: "ack-epoch" }>): void {
    const { durable } = server.disk;
    const { epoch } = server.replica.zab;
    if (durable.promise.epoch !== epoch) {
      throw new Violation("2.2", `server ${server.sid} acks epoch ${epoch} and promised less`);
    }
    if (message.currentEpoch !== durable.currentEpoch || message.logged.zxid !== durable.tail.zxid) {
      throw new Violation("2.2", `server ${server.sid} reports a log to its leader that is not on its disk`);
    }
    if (message.isRepeated) this.#facts.coverage.reached("promise repeated to the same leader");
  }

  stepped(server: SimServer): void {
    const { state, phase, committed } = server.replica.zab;
    if (state !== "leading") {
      this.#discovering.delete(server);
      return;
    }
    if (!this.#facts.configurations.mayLead(server.sid)) {
      throw new Violation("L2", `server ${server.sid} leads, and is no candidate`);
    }
    if (phase === "discovery") this.#discovering.add(server);
    else if (this.#discovering.delete(server)) this.#hasPromises(server);
    // Before, it knows of nothing but what was committed without it.
    if (phase === "broadcast" || !this.#facts.committed.has(committed)) this.established(server);
  }

  #hasPromises(server: SimServer): void {
    const { epoch } = server.replica.zab;
    const other = this.#promised.get(epoch);
    if (other !== undefined && other !== server) {
      throw new Violation("I1", `epoch ${epoch} was promised to server ${other.sid} and to server ${server.sid}`);
    }
    this.#promised.set(epoch, server);
    const { bootCount } = server.disk.durable.identity;
    const sids = this.#facts.disks.serversWith(
      ({ promise }) =>
        promise.epoch > epoch ||
        (promise.epoch === epoch && promise.sid === server.sid && promise.incarnation === bootCount),
    );
    if (!this.#facts.configurations.isQuorum(server.disk.durable.tail.zxid, sids)) {
      throw new Violation("I31", `server ${server.sid} begins epoch ${epoch} with the promises of ${sids.join(", ")}`);
    }
  }

  /** A quorum has accepted a leader's history, which is committed thereby. */
  established(server: SimServer): void {
    const { epoch } = server.replica.zab;
    const owner = this.#owners.get(epoch);
    if (owner !== undefined) {
      if (owner.server === server) return;
      throw new Violation("I1", `epoch ${epoch} is led by server ${owner.server.sid} and by server ${server.sid}`);
    }
    const { durable } = server.disk;
    const history = durable.tail.zxid;
    const sids = this.#facts.disks.serversWith(
      (each) => each.currentEpoch >= epoch && this.#facts.disks.holds(each, history),
    );
    if (!this.#facts.configurations.isQuorum(history, sids)) {
      throw new Violation("I18", `server ${server.sid} leads epoch ${epoch}, which only ${sids.join(", ")} hold`);
    }
    this.#owners.set(epoch, { server, history, proposed: history });
    if (epoch < this.#newest) {
      // It is late: a later epoch has its leader, which took this history over.
      if (this.#facts.committed.has(history)) return;
      throw new Violation("I12", `epoch ${epoch} begins after a later one, with another history`);
    }
    const committed = this.#facts.committed.last;
    if (!this.#facts.disks.holds(durable, committed)) {
      const missing = formatZxid(committed);
      throw new Violation("I12", `server ${server.sid} leads epoch ${epoch} without ${missing}, which is committed`);
    }
    this.#newest = epoch;
    if (this.#facts.configurations.isChangingAt(history))
      this.#facts.coverage.reached("change completed by a successor");
    // The quorum is noticed here a little after the leader has it; meanwhile the leader may have
    // synced a voter that lost its disk.
    for (const disk of this.#facts.disks.all()) {
      if (disk.durable.currentEpoch === epoch && disk.isOld !== true) disk.isWiped = false;
    }
    this.#facts.skipped.established(epoch, durable);
    if (history > committed) this.#facts.coverage.reached("proposal of a dead leader survived");
    this.#facts.committed.extend(durable, history);
  }
}
