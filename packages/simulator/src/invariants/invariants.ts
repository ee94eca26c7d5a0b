import {
  type ClientAccess,
  formatZxid,
  type LinkRef,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import { decodeMembers } from "@zooid/zab";
import type { SimServer } from "../cluster/server.ts";
import type { CoverageCounts } from "../runs/coverage.ts";
import { AppliedState } from "./applied-state.ts";
import { BroadcastInvariants } from "./broadcast.ts";
import { ClosedClients } from "./closed-clients.ts";
import { CommittedSequence } from "./committed-sequence.ts";
import { Configurations } from "./configurations.ts";
import { ElectionInvariants } from "./election.ts";
import type { Facts } from "./facts.ts";
import { KnownDisks } from "./known-disks.ts";
import { LogInvariants } from "./log.ts";
import { ProposalStreams } from "./proposals.ts";
import { Restores } from "./restores.ts";
import { SkippedProposals } from "./skipped-proposals.ts";
import { Violation } from "./violation.ts";

/**
 * The invariants of the replication (reference on ZAB, 1.4), asserted while an ensemble runs:
 * election, log, broadcast and applied state, each in a file of its own. The state of the whole
 * ensemble is kept outside of the servers: the owner of each epoch, the proposals, the order of
 * commits, the content of every disk.
 *
 * All of it is incremental. Within one epoch there is one stream of proposals, each of which knows
 * its predecessor; so a log is known by the end of each of its epochs, and only what is new is
 * looked at.
 */
export class Invariants {
  readonly #facts: Facts;
  readonly #disks: KnownDisks;
  readonly #configurations: Configurations;
  readonly #committed: CommittedSequence;
  readonly #election: ElectionInvariants;
  readonly #log: LogInvariants;
  readonly #broadcast: BroadcastInvariants;
  readonly #state: AppliedState;

  /**
   * @param restored a restored state is committed: it is the ensemble's history from then on
   * @param clients in the configuration with which the ensemble is founded
   */
  constructor(
    verifier: QuorumVerifier,
    coverage: CoverageCounts,
    restored: (zxid: Zxid) => void = () => {},
    clients: ClientAccess = "open",
  ) {
    const closed = new ClosedClients(clients);
    const restores = new Restores();
    const disks = new KnownDisks(
      (sid, diskId, holdersOf) => configurations.namesDisk(sid, diskId, holdersOf),
      restores,
    );
    const proposals = new ProposalStreams();
    const committed = new CommittedSequence(proposals, restored);
    const configurations = new Configurations(verifier, proposals, committed);
    const skipped = new SkippedProposals(proposals, coverage);
    const facts = { verifier, disks, configurations, proposals, committed, skipped, restores, closed, coverage };
    const election = new ElectionInvariants(facts);
    const broadcast = new BroadcastInvariants(facts, election);
    this.#facts = facts;
    this.#disks = disks;
    this.#configurations = configurations;
    this.#committed = committed;
    this.#election = election;
    this.#log = new LogInvariants(facts, election);
    this.#broadcast = broadcast;
    this.#state = new AppliedState(facts, election, broadcast);
  }

  /** The commit point: the highest zxid that any leader knew to be committed. */
  get committed(): Zxid {
    return this.#committed.last;
  }

  get committedCount(): number {
    return this.#committed.count;
  }

  isCommitted(zxid: number): boolean {
    return this.#committed.has(zxid);
  }

  /** The configurations that may count for some server now. */
  get configurations(): readonly QuorumVerifier[] {
    return this.#configurations.counting(this.#committed.last, (sid, version) => {
      const config = this.#disks.get(sid)?.durable.committedConfig;
      return config !== undefined && (decodeMembers(config)?.version ?? ZXID_NONE) >= version;
    });
  }

  /** The epoch of the newest leader whose history a quorum has. */
  get newestEpoch(): number {
    return this.#election.newestEpoch;
  }

  /** Whether a server's disk was emptied and no leader has synced it since. */
  isWiped(sid: ServerId): boolean {
    return this.#disks.isWiped(sid);
  }

  /**
   * Whether some server does not know yet that the names of disks which it has logged are
   * committed: it counts by the names before those, too.
   */
  get isNamingUnderWay(): boolean {
    return Array.from(this.#disks.all()).some(({ durable: { committedConfig, lastSeenConfig } }) => {
      const [committed, lastSeen] = [committedConfig, lastSeenConfig].map((config) => config && decodeMembers(config));
      if (committed === undefined || lastSeen === undefined) return false;
      return [...lastSeen.disks].some(([sid, diskId]) => committed.disks.get(sid) !== diskId);
    });
  }

  /** Whether an earlier disk of a server would be known as such. */
  recognizesOldDisk(sid: ServerId, durable: DurableLog): boolean {
    return this.#disks.recognizesOldDisk(sid, durable);
  }

  /** Whether a voter's disk holds an epoch, and with it a history. */
  isFormed(sid: ServerId): boolean {
    return this.#disks.isFormed(sid);
  }

  /** Whether anything was ever logged on a voter's disk. */
  hasLogged(sid: ServerId): boolean {
    return this.#disks.hasLogged(sid);
  }

  crashed(sid: ServerId, durable: DurableLog): void {
    this.#log.crashed(sid, durable);
  }

  wiped(sid: ServerId): void {
    this.#log.wiped(sid);
  }

  mounted(sid: ServerId, durable: DurableLog): void {
    this.#disks.restore(sid, durable, this.#election.newestEpoch);
  }

  stepped(server: SimServer): void {
    if (!server.isUp) return;
    this.#log.stepped(server);
    this.#election.stepped(server);
    this.#broadcast.stepped(server);
    const { closed, restores, committed } = this.#facts;
    closed.stepped(server, committed);
    if (!restores.areNone) restores.stepped(server, committed);
  }

  /** A leader is about to install a restored state, which is to stand at a zxid. */
  restoring(server: SimServer, zxid: Zxid): void {
    const { configurations, proposals, restores } = this.#facts;
    if (proposals.get(zxid) !== undefined) throw new Violation("R1", `${formatZxid(zxid)} was proposed by a leader`);
    restores.add(zxid);
    const configuration = configurations.versionAfter(server.disk.durable.tail.zxid);
    proposals.add(zxid, { hash: 0, previous: ZXID_NONE, configuration, isRestored: true });
  }

  /** The first server applies an entry. */
  committing(zxid: Zxid, op: number): void {
    this.#facts.closed.committing(zxid, op, this.#committed);
  }

  /** A leader hands entries to its log. */
  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    this.#broadcast.proposed(server, bytes, start, end);
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    switch (message.kind) {
      case "leader-info":
        this.#election.sentLeaderInfo(server, message);
        return;
      case "ack-epoch":
        this.#election.sentAckEpoch(server, message);
        return;
      case "ack-new-leader":
        this.#broadcast.sentAckNewLeader(server, link, message);
        return;
      case "ack":
        this.#broadcast.sentAck(server, link, message.durable);
        return;
      case "up-to-date":
        this.#election.established(server);
        return;
      default:
    }
  }

  applying(server: SimServer, zxid: Zxid): void {
    this.#state.applying(server, zxid);
  }

  applied(server: SimServer, zxid: Zxid): void {
    this.#state.applied(server, zxid);
  }

  loaded(server: SimServer): void {
    this.#state.loaded(server);
  }
}
