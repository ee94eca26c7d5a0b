import { randomBytes } from "node:crypto";
import {
  type ElectionMessage,
  formatZxid,
  type LinkRef,
  levelOfHistory,
  type Members,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { peerFrameBytesMax } from "@zooid/peer-protocol";
import { type KnownMembers, saidDiskOf } from "@zooid/zab";
import type { ServerConfig } from "./config.ts";
import type { Driver } from "./driver/driver.ts";
import type { Peers } from "./driver/driver-config.ts";
import type { PortMoves } from "./listening/port-moves.ts";
import { describeMembers } from "./operators/describe-members.ts";
import { FOUNDING_REPORT_MS, FOUNDING_WARN_MS, FoundingReport } from "./operators/founding-report.ts";
import type { OperatorEvent } from "./operators/log-events.ts";
import { NO_QUORUM_CHECK_MS, NoQuorumReport } from "./operators/no-quorum-report.ts";
import { NotServingReport } from "./operators/not-serving-report.ts";
import type { RefusalLog } from "./operators/refusal-log.ts";
import { ClockReport } from "./peers/clock-report.ts";
import { ElectionMesh } from "./peers/election-mesh.ts";
import type { EnsembleOptions, QuorumPeerConfig } from "./peers/ensemble-config.ts";
import type { PeerIdentity } from "./peers/handshake.ts";
import { LinkProtection, type PreparedReload } from "./peers/link-protection.ts";
import { checkTrust } from "./peers/peer-security.ts";
import { QuorumLinks } from "./peers/quorum-links.ts";
import { Reachability } from "./peers/reachability.ts";
import type { ServerLog } from "./server-api.ts";
import type { TakeOver } from "./standby/take-over.ts";
import { StoreSnapshotPort } from "./storage/snapshot-port.ts";
import type { Storage } from "./storage/storage.ts";
import { FileWatch } from "./tls/file-watch.ts";

/** Tells the starts of servers apart. */
const START_ID_BYTES = 8;

/** Interval at which a server without a leader logs the servers that it cannot reach. */
const SUMMARY_MS = 30_000;

/**
 * The other servers of an ensemble, for this one's driver: links, elections, and snapshot
 * transfers.
 */
export class EnsemblePeers implements Peers {
  readonly links: QuorumLinks;
  readonly snapshots: StoreSnapshotPort;
  readonly reachability: Reachability;
  readonly #ensemble: QuorumPeerConfig;
  readonly #info: ServerLog["info"];
  readonly #inForce: (members: Members) => void;
  #version: Zxid = ZXID_NONE;
  readonly #moves: PortMoves;
  readonly #mesh: ElectionMesh;
  readonly protection: LinkProtection;
  readonly clocks: ClockReport;
  readonly reloads: { done: number; failed: number } = { done: 0, failed: 0 };
  readonly #warn: ServerLog["warn"];
  #watch: FileWatch | undefined;
  readonly noQuorum: NoQuorumReport;
  readonly notServing: NotServingReport;
  readonly #founding: FoundingReport;
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(parts: {
    readonly config: ServerConfig;
    readonly ensemble: QuorumPeerConfig;
    readonly storage: Storage;
    readonly refusals: RefusalLog;
    readonly driver: () => Driver;
    readonly info: ServerLog["info"];
    readonly warn: ServerLog["warn"];
    readonly error: ServerLog["error"];
    /** Moves each port that the configuration places. */
    readonly moves: PortMoves;
    readonly takeOver: () => Pick<TakeOver, "originOf" | "readyState">;
    /** A configuration of the ensemble is in force. */
    readonly inForce: (members: Members) => void;
  }) {
    this.#inForce = parts.inForce;
    this.#moves = parts.moves;
    this.#info = parts.info;
    const { config, ensemble, storage, refusals, driver, info, warn } = parts;
    this.#ensemble = ensemble;
    this.#warn = warn;
    const zab = () => driver().replica.zab;
    const startId = randomBytes(START_ID_BYTES).toString("hex");
    const options = {
      ensemble,
      identity: () => ({
        bootCount: storage.log.durable.identity.bootCount,
        startId,
        ...saidDiskOf(storage.log.durable),
        levels: config.levels,
        level: levelOfHistory({ ...storage.log.durable.levelRaise, level: zab().level }, storage.log.durable.tail.zxid),
      }),
      isFounder: () => driver().replica.zab.founding.isFounder,
      tickMs: config.tickMs,
      frameBytesMax: peerFrameBytesMax(config.frameBytesMax),
      refusals,
      warn,
      memberRefused: (address: string, reason: string) => {
        this.notServing.refused(`a link from ${address} was refused: ${reason}`, performance.now());
      },
    };
    const input = (step: () => void): void => driver().input(step);
    const refusalOf = (peer: PeerIdentity) => this.#mesh.refusalOf(peer);
    this.links = new QuorumLinks(
      { ...options, refusalOf },
      {
        wake: () => driver().wake(),
        linkOpened: (link, sid, isDialed, said) => input(() => zab().linkOpened(link, sid, isDialed, said)),
        dialFailed: (reason) => input(() => zab().dialFailed(reason)),
        received: (link, message) => input(() => driver().replica.receivePeer(link, message)),
        linkClosed: (link, reason) => input(() => zab().linkClosed(link, reason)),
      },
    );
    const isLooking = (): boolean => zab().state === "looking";
    this.reachability = new Reachability({ ensemble, info, warn, isLooking });
    this.noQuorum = new NoQuorumReport({
      history: () => saidDiskOf(storage.log.durable).history,
      sid: ensemble.sid,
      error: parts.error,
      isServing: () => driver().replica.isServing,
      loss: () => (storage.log.durable.amnesiac ? "part-of-the-log" : zab().diskDoubt),
      connected: () => this.reachability.peers.filter(({ isConnected }) => isConnected).map(({ sid }) => sid),
      refused: () => this.reachability.peers.filter(({ isRefused }) => isRefused).map(({ sid }) => sid),
      summary: () => this.reachability.summary,
      members: () => {
        const { committed, electors } = zab().members;
        const isListed = committed === undefined || committed.servers.some(({ sid }) => sid === ensemble.sid);
        const { files, isChangeable } = ensemble.directory;
        return {
          verifier: electors,
          version: committed?.version ?? ZXID_NONE,
          isListed,
          list: committed,
          file: isChangeable ? undefined : { servers: files },
        };
      },
    });
    this.notServing = new NotServingReport({
      error: parts.error,
      isServing: () => driver().replica.isServing,
      hasQuorum: () => this.noQuorum.hasQuorum(),
    });
    this.clocks = new ClockReport({ info, warn, nowMs: () => performance.now() });
    this.#mesh = new ElectionMesh(options, {
      wake: () => driver().wake(),
      message: (from, message) => {
        if (message.kind !== "poll" && message.role === "looking") {
          this.noQuorum.voted(from, message.vote !== undefined);
        }
        input(() => driver().replica.receiveElection(from, message));
      },
      linkUp: (sid, peer) => {
        this.reachability.connected(sid);
        this.#founding.linked(sid, peer);
        this.noQuorum.heard(sid, peer);
        input(() => driver().replica.membership.electionLinkUp(sid, peer));
      },
      linkDown: (sid, reason, isReplaced) => {
        if (isReplaced) this.reachability.replaced(sid);
        else this.reachability.failed(sid, reason);
        this.#founding.lost(sid);
        input(() => driver().replica.membership.electionLinkDown(sid, isReplaced));
      },
      answers: (sid) => input(() => zab().peerAnswers(sid)),
      unheard: (sid, refusal) => {
        this.#founding.unheard(sid, refusal?.kind);
        input(() => driver().replica.membership.electionLinkDown(sid));
      },
      unanswered: (sid, tookMs) => input(() => zab().peerUnanswered(sid, tookMs)),
      dialFailed: (sid, reason, isRefused) => this.reachability.failed(sid, reason, isRefused),
      clockCompared: (sid, aheadMs, roundTripMs) => this.clocks.compared(sid, aheadMs, roundTripMs),
      measured: (sid, roundTripMs) => input(() => driver().replica.membership.measured(sid, roundTripMs)),
    });
    this.#founding = new FoundingReport({
      ensemble,
      warn,
      error: parts.error,
      reachability: this.reachability,
      phase: () => zab().phase,
      // A server that has lost its log waits for a quorum of others, and founds nothing.
      obstacles: () => {
        const isFounder = zab().founding.isFounder && !zab().isAmnesiac;
        return isFounder ? zab().founding.obstacles() : undefined;
      },
      disk: () => saidDiskOf(storage.log.durable),
    });
    this.protection = new LinkProtection({
      links: () => ({ elections: this.#mesh.protectedLinks, quorum: this.links.protectedLinks }),
      ensemble,
      tickMs: config.tickMs,
      warn,
    });
    this.snapshots = new StoreSnapshotPort({
      openSnapshot: () => storage.openSnapshot(),
      receiveSnapshot: (position) => storage.receiveSnapshot(position),
      originOf: (position) => parts.takeOver().originOf(position),
      readyState: (origin, position) => parts.takeOver().readyState(origin, position),
      send: (link: LinkRef, message) => this.links.send(link, message),
      input,
      note: (text) => warn(text, { event: "snapshot-not-sent" }),
    });
  }

  /** The ports that are bound. */
  get ports(): {
    readonly quorumPort: number;
    readonly electionPort: number;
    readonly observerMasterPort: number | undefined;
  } {
    const { port: quorumPort, observerMasterPort } = this.links;
    return { quorumPort, electionPort: this.#mesh.port, observerMasterPort };
  }

  /** Why there is no quorum, beyond servers that cannot be reached; for `/readyz`. */
  quorumNote(nowMs: number): string {
    return `${this.noQuorum.note(nowMs)}${this.#founding.note()}${this.notServing.note(nowMs)}`;
  }

  /** Why other servers cannot connect yet; undefined if there is no reason. */
  get waitsFor(): string | undefined {
    return this.#mesh.waitsFor ?? this.links.waitsFor;
  }

  /** Resolves when other servers can connect. */
  async listen(): Promise<void> {
    await this.links.listen();
    await this.#mesh.listen();
    this.#moves.add(...this.links.movablePorts, ...this.#mesh.movablePorts);
    // The configuration may have changed since the ports began to open.
    void this.#moves.follow();
    this.#watchCertificates();
  }

  #watchCertificates(): void {
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    const { files } = this.#ensemble.transport;
    if (files !== undefined && files.length > 0) this.#watch = new FileWatch(files, () => this.reloadCertificates());
  }

  /** In seconds since 1970; undefined without TLS. */
  get certificateNotAfter(): number | undefined {
    return this.#ensemble.transport.certificateNotAfter?.();
  }

  /** Starts to connect. */
  start(): Promise<void> {
    this.#timers = [
      setInterval(() => this.reachability.summarize(), SUMMARY_MS),
      setInterval(() => this.#checkService(performance.now()), NO_QUORUM_CHECK_MS),
      setInterval(() => this.#founding.check(), FOUNDING_REPORT_MS),
      setTimeout(() => this.#founding.warnOnce(), this.#ensemble.foundingWaitMs + FOUNDING_WARN_MS),
    ];
    for (const timer of this.#timers) timer.unref();
    this.protection.start();
    return this.#mesh.start();
  }

  #checkService(nowMs: number): void {
    this.noQuorum.check(nowMs);
    this.notServing.check(nowMs);
  }

  /** An event of the broadcast, with what the links know about it. */
  noted(event: OperatorEvent): OperatorEvent {
    const reason = event.kind === "leader-unreachable" ? (event.detail ?? this.links.lastDialFault) : undefined;
    const shown = event.kind === "leader-unreachable" && reason !== undefined ? { ...event, detail: reason } : event;
    this.noQuorum.noted(shown);
    this.notServing.noted(shown);
    return shown;
  }

  /** Opens connections to servers that join, and gives up those that left. */
  membersChanged({ committed, lastSeen, heard }: Pick<KnownMembers, "committed" | "lastSeen" | "heard">): void {
    if (committed === undefined) return;
    this.#ensemble.directory.update([committed, lastSeen, heard]);
    void this.#moves.follow();
    this.links.membersChanged();
    this.reachability.membersChanged();
    this.clocks.keep(new Set(this.#ensemble.directory.servers.map(({ sid }) => sid)));
    this.#mesh.membersChanged();
    if (committed.version === this.#version) return;
    this.#version = committed.version;
    this.#info(`${describeMembers(committed)} (configuration ${formatZxid(committed.version)})`, {
      event: "configuration",
    });
    this.#inForce(committed);
    // Where files name the members, this server starts again with the servers that it has now.
    if (!this.#ensemble.directory.isChangeable) return;
    const problems: string[] = [];
    checkTrust(this.#ensemble.security.current, this.#ensemble, problems);
    for (const problem of problems) {
      this.#warn(`this server will not start again with the ensemble's new servers: ${problem}`, {
        event: "configuration",
      });
    }
  }

  elect(to: ServerId, message: ElectionMessage): void {
    this.#mesh.send(to, message);
  }

  async stop(): Promise<void> {
    this.#watch?.[Symbol.dispose]();
    this.protection.stop();
    for (const timer of this.#timers) clearInterval(timer);
    await this.snapshots.stop();
    await Promise.all([this.links.stop(), this.#mesh.stop()]);
  }

  /**
   * Secrets, certificates and modes of the options, for new links; see
   * {@link LinkProtection.prepare}.
   */
  prepareSecurity(options: EnsembleOptions): PreparedReload {
    const prepared = this.protection.prepare(options);
    if (!prepared.isTlsUsable) this.reloads.failed++;
    return {
      ...prepared,
      apply: () => {
        prepared.apply();
        this.reloads.done++;
        this.#watchCertificates();
      },
    };
  }

  /**
   * Invalid certificates change nothing: they may be half written. Open connections stay as they
   * are.
   */
  reloadCertificates(): readonly string[] {
    const problems = this.#ensemble.transport.reload?.();
    if (problems === undefined) return [];
    if (problems.length > 0) this.reloads.failed++;
    else this.reloads.done++;
    if (problems.length > 0)
      this.#warn(`the certificates for peers that were read before stay in force: ${problems.join("; ")}`, {
        event: "certificates-refused",
      });
    return problems;
  }
}
