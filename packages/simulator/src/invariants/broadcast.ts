import {
  composeZxid,
  epochOf,
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  type LinkRef,
  type PeerMessage,
  type Zxid,
} from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { ElectionInvariants } from "./election.ts";
import type { Facts } from "./facts.ts";
import { frameHash, membersIn } from "./proposals.ts";
import { Violation } from "./violation.ts";

/**
 * Broadcast: proposals have no gaps, acks are true, and what is committed is on the disks of a
 * quorum (I8 to I10, I14, I16 to I19, I22).
 */
export class BroadcastInvariants {
  readonly #facts: Facts;
  readonly #election: ElectionInvariants;
  /** The zxid that each server believed to be committed when it was last looked at. */
  readonly #believed = new WeakMap<SimServer, Zxid>();
  /** The zxid that each server last acked on each link. */
  readonly #acked = new WeakMap<SimServer, Map<LinkRef, Zxid>>();

  constructor(facts: Facts, election: ElectionInvariants) {
    this.#facts = facts;
    this.#election = election;
  }

  /** A leader hands entries to its log. */
  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    const { sid, replica } = server;
    const { epoch } = replica.zab;
    const owner = this.#election.owner(epoch);
    if (owner?.server !== server) {
      throw new Violation("I8", `server ${sid} proposes in epoch ${epoch}, which it does not own`);
    }
    if (epochOf(owner.proposed) !== epoch && replica.tree.applied < owner.history) {
      const history = formatZxid(owner.history);
      throw new Violation("I22", `server ${sid} proposes before it has applied ${history}, its own history`);
    }
    for (let at = start; at < end; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const zxid = frameZxid(bytes, at);
      const due = epochOf(owner.proposed) === epoch ? ((owner.proposed + 1) as Zxid) : composeZxid(epoch, 1);
      if (zxid !== due || this.#facts.proposals.get(zxid) !== undefined) {
        throw new Violation("I8", `server ${sid} proposes ${formatZxid(zxid)}, ${formatZxid(due)} is due`);
      }
      const configuration = this.#facts.configurations.versionAfter(owner.proposed);
      this.#facts.proposals.add(zxid, { hash: frameHash(bytes, at), previous: owner.proposed, configuration });
      const members = membersIn(bytes, at);
      if (members !== undefined) {
        this.#facts.configurations.proposed({ ...members, version: zxid }, owner.proposed);
        this.#facts.closed.proposed(zxid, members.clients);
      }
      owner.proposed = zxid;
      this.#facts.skipped.proposed(zxid);
    }
  }

  sentAckNewLeader(
    server: SimServer,
    link: LinkRef,
    { epoch, through }: Extract<PeerMessage, { kind: "ack-new-leader" }>,
  ): void {
    const { durable } = server.disk;
    if (durable.currentEpoch !== epoch || durable.tail.zxid < through) {
      throw new Violation("I18", `server ${server.sid} accepts epoch ${epoch} before it is on its disk`);
    }
    this.#ackedOf(server).set(link, through);
  }

  sentAck(server: SimServer, link: LinkRef, zxid: Zxid): void {
    const { durable } = server.disk;
    const acked = this.#ackedOf(server);
    const before = acked.get(link);
    if (durable.tail.zxid < zxid || !this.#facts.disks.holds(durable, zxid)) {
      throw new Violation("I17", `server ${server.sid} acks ${formatZxid(zxid)}, not yet on its disk`);
    }
    if (before === undefined || zxid < before) {
      throw new Violation("I19", `server ${server.sid} acks ${formatZxid(zxid)} out of order`);
    }
    acked.set(link, zxid);
  }

  stepped(server: SimServer): void {
    const { zab } = server.replica;
    if (zab.state !== "leading") this.#learnerStepped(server);
    else if (this.#election.owner(zab.epoch)?.server === server) this.leaderCommitted(server);
  }

  /** The leader of an epoch may have committed more. */
  leaderCommitted(server: SimServer): void {
    const { sid, disk } = server;
    const { committed } = server.replica.zab;
    if (committed === this.#believed.get(server)) return;
    this.#believed.set(server, committed);
    const last = this.#facts.committed.last;
    if (committed <= last) {
      if (this.#facts.committed.has(committed)) return;
      throw new Violation("I10", `server ${sid} commits ${formatZxid(committed)}, others committed another history`);
    }
    const holdersOf = (zxid: Zxid) =>
      this.#facts.disks.serversWith((durable) => this.#facts.disks.holds(durable, zxid));
    if (!this.#facts.configurations.mayCommit(committed, holdersOf)) {
      const holders = holdersOf(committed).join(", ");
      throw new Violation("I9", `server ${sid} commits ${formatZxid(committed)}, which only ${holders} hold`);
    }
    if (epochOf(last) !== epochOf(committed) && !this.#facts.disks.holds(disk.durable, last)) {
      throw new Violation("I10", `server ${sid} commits ${formatZxid(committed)} without what came before`);
    }
    this.#facts.committed.extend(disk.durable, committed);
  }

  #learnerStepped(server: SimServer): void {
    const { zab, tree } = server.replica;
    const { committed } = zab;
    if (committed === this.#believed.get(server)) return;
    this.#believed.set(server, committed);
    if (!this.#facts.committed.has(committed)) {
      throw new Violation("I16", `server ${server.sid} believes that ${formatZxid(committed)} is committed`);
    }
    if (zab.phase === "broadcast" && tree.applied > committed) {
      throw new Violation("I14", `server ${server.sid} has applied more than it knows to be committed`);
    }
  }

  #ackedOf(server: SimServer): Map<LinkRef, Zxid> {
    let acked = this.#acked.get(server);
    if (acked === undefined) {
      acked = new Map();
      this.#acked.set(server, acked);
    }
    return acked;
  }
}
