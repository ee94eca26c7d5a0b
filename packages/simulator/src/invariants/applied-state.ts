import { formatZxid, ZXID_NONE, type Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { digestOf } from "../cluster/state-image.ts";
import type { BroadcastInvariants } from "./broadcast.ts";
import type { ElectionInvariants } from "./election.ts";
import type { Facts } from "./facts.ts";
import { Violation } from "./violation.ts";

/**
 * The transactions that servers apply are committed, logged, in order and the same everywhere (I13
 * to I15, I23, I24, E1).
 */
export class AppliedState {
  readonly #facts: Facts;
  readonly #election: ElectionInvariants;
  readonly #broadcast: BroadcastInvariants;
  /** How many of the committed transactions each server has applied: its place in the sequence. */
  readonly #counts = new WeakMap<SimServer, number>();
  readonly #digests = new Map<number, string>();

  constructor(facts: Facts, election: ElectionInvariants, broadcast: BroadcastInvariants) {
    this.#facts = facts;
    this.#election = election;
    this.#broadcast = broadcast;
  }

  applying(server: SimServer, zxid: Zxid): void {
    const { sid, disk, replica } = server;
    if (!this.#facts.committed.has(zxid) && replica.zab.state === "leading") {
      this.#election.established(server);
      this.#broadcast.leaderCommitted(server);
    }
    if (!this.#facts.committed.has(zxid) && this.#facts.verifier.voters.size === 1)
      this.#facts.committed.extend(disk.durable, zxid);
    const place = this.#facts.committed.placeOf(zxid);
    if (place === undefined) {
      throw new Violation("I15", `server ${sid} applies ${formatZxid(zxid)}, which is not committed`);
    }
    const count = this.#counts.get(server) ?? this.#countAt(server);
    this.#counts.set(server, count);
    if (place !== count) {
      const due = this.#facts.committed.at(count) ?? ZXID_NONE;
      throw new Violation("I13", `server ${sid} applies ${formatZxid(zxid)} where ${formatZxid(due)} is due`);
    }
    if (zxid > disk.durable.tail.zxid || !this.#facts.disks.holds(disk.durable, zxid)) {
      throw new Violation("I14", `server ${sid} applies ${formatZxid(zxid)}, which is not on its disk`);
    }
  }

  applied(server: SimServer, zxid: Zxid): void {
    this.#counts.set(server, (this.#counts.get(server) ?? 0) + 1);
    this.#checkDigest(server, zxid, "I23");
    checkOwners(server);
  }

  /** The tree was replaced by a snapshot. */
  loaded(server: SimServer): void {
    const { applied } = server.replica.tree;
    const place = this.#facts.committed.placeOf(applied);
    if (place === undefined && applied !== ZXID_NONE && !this.#facts.restores.has(applied)) {
      throw new Violation(
        "I15",
        `server ${server.sid} loads a state at ${formatZxid(applied)}, which is not committed`,
      );
    }
    if (place === undefined) this.#counts.delete(server);
    else this.#counts.set(server, place + 1);
    this.#checkDigest(server, applied, "I24");
    checkOwners(server);
  }

  /** For a server whose state was not committed when it was loaded. */
  #countAt({ replica }: SimServer): number {
    return (this.#facts.committed.placeOf(replica.tree.applied) ?? -1) + 1;
  }

  #checkDigest({ sid, replica }: SimServer, zxid: Zxid, rule: string): void {
    const digest = digestOf(replica.tree);
    const known = this.#digests.get(zxid);
    if (known === undefined) this.#digests.set(zxid, digest);
    else if (known !== digest) {
      throw new Violation(rule, `server ${sid}'s tree at ${formatZxid(zxid)} is ${digest}, others had ${known}`);
    }
  }
}

/**
 * E1: every ephemeral belongs to a session that a transaction created and none has ended; otherwise
 * none would remove it.
 */
function checkOwners({ sid, replica: { tree } }: SimServer): void {
  let owned = 0;
  tree.forEachSession((high, low) => {
    owned += tree.ephemeralCountOf(high, low);
  });
  if (owned === tree.ephemeralCount) return;
  const lost = tree.ephemeralCount - owned;
  throw new Violation("E1", `server ${sid} has ${lost} ephemerals of sessions that are not replicated`);
}
