import { counterOf, type LogState, type Members, type ServerId, ZXID_NONE } from "@zooid/model";
import type { PeerConfig } from "./config.ts";
import { type KnownMembers, versionOf } from "./known-members.ts";
import { isPromiseAlone, type LostHistory } from "./lost-history.ts";
import { isOwnHistory } from "./own-history.ts";

/**
 * The history on a disk:
 *
 * - `none`: nothing was logged there, no epoch is held, and no loss is known: the server is fresh
 * - `attempt`: an epoch is held, as by a server that founded an ensemble and crashed, and nothing
 *   was logged
 * - `own`: no other server has a part of it, since the server made it alone
 * - `ensemble`: anything else, a known loss among it
 */
export type SaidHistory = "none" | "attempt" | "own" | "ensemble";

/** The report of a server about its disk when it connects. */
export interface SaidDisk {
  readonly history: SaidHistory;
  /** Empty unless an epoch is held: the id of an attempt to found an ensemble is not sent. */
  readonly ensembleId: string;
}

/** The data of a server; the id of its ensemble is undefined if it did not say it. */
interface HeardData {
  readonly history: SaidHistory;
  readonly ensembleId: string | undefined;
}

/** Why this server founds no ensemble yet. */
export type FoundingObstacle =
  /** It was heard, and is not fresh. */
  | {
      readonly kind: "has-data";
      readonly sid: ServerId;
      readonly history: SaidHistory;
      readonly ensembleId: string | undefined;
    }
  /** It accepts connections, and has not said what it has: it is silent, or there was a refusal. */
  | { readonly kind: "not-heard"; readonly sid: ServerId }
  /** It was not reached yet, and it is too early to take it for absent. */
  | { readonly kind: "awaited"; readonly sid: ServerId }
  /**
   * It cannot be reached, and the version of the configuration in this server's files says that
   * there was an ensemble.
   */
  | { readonly kind: "absent-beside-a-past"; readonly sid: ServerId };

interface Peer {
  /** On its present connection; undefined without one. */
  said: SaidDisk | undefined;
  /**
   * It had data when it was last heard, of the ensemble with this id, or of an unknown one. It is
   * not forgotten when the connection ends.
   */
  data: HeardData | undefined;
  /**
   * It accepted the last connection that was tried, and did not say anything: it was silent, or
   * there was a refusal.
   */
  isUnheard: boolean;
  /** When a connection last came about or ended. */
  thereMs: number;
  /** An attempt to connect that began after the wait has ended without a connection. */
  isAbsent: boolean;
}

/** The disk of a server as its Hello describes it. */
export function saidDiskOf(durable: LogState): SaidDisk {
  const { amnesiac, currentEpoch, identity, promise, tail } = durable;
  const holdsEpoch = currentEpoch > 0 || tail.zxid !== ZXID_NONE;
  // 1. S1 and S2 lose their disks, and S2 tries to found an ensemble: its id is on both.
  // 2. The links to S3, which has the data, come up.
  // With that id in the Hello, S3 would be refused unheard.
  // rule: an-attempts-id-is-not-in-the-hello
  const ensembleId = holdsEpoch ? identity.ensembleId : "";
  if (amnesiac || isPromiseAlone(durable)) return { history: "ensemble", ensembleId };
  if (!holdsEpoch) return { history: "none", ensembleId };
  if (isOwnHistory({ ...identity, hasHistory: true, promise })) return { history: "own", ensembleId };
  return { history: tail.zxid === ZXID_NONE ? "attempt" : "ensemble", ensembleId };
}

/**
 * Whether two servers belong to different ensembles. One that holds the epoch of an attempt, and
 * has nothing logged, may join any: it is not counted there.
 */
export function isOfAnotherEnsemble(a: SaidDisk, b: SaidDisk): boolean {
  if (a.history === "attempt" || b.history === "attempt") return false;
  return a.ensembleId !== "" && b.ensembleId !== "" && a.ensembleId !== b.ensembleId;
}

/**
 * Whether this server may found an ensemble beside the others: a server without a history, or with
 * one that no other server has a part of, takes no epoch until every other voter has said that it
 * is fresh, or is known to be absent.
 *
 * ```
 *                    connected                 says that it is fresh
 *   awaited ─────────────────────▶ not heard ────────────────────────▶ fresh
 *      ▲ │ no connection for foundingWaitMs,     └─────▶ has data        │
 *      │ ▼ and an attempt after it failed                                │
 *      │ absent                                                          │
 *      └───────────────────────────── connection lost ◀──────────────────┘
 * ```
 *
 * A server that was heard with data stays an obstacle, also while it is away, until it says that it
 * is fresh:
 *
 * 1. S1 and S2 lose their disks, and hear S3, which has the data.
 * 2. S3 is restarted by its operator, which takes longer than the wait.
 */
export class Founding {
  readonly #config: PeerConfig;
  readonly #members: KnownMembers;
  readonly #lostHistory: LostHistory;
  readonly #log: { readonly durable: LogState };
  readonly #nowMs: () => number;
  readonly #peers = new Map<ServerId, Peer>();
  /** When the process began to run: no role and no election starts the wait again. */
  #startMs: number | undefined;

  constructor(parts: {
    readonly config: PeerConfig;
    readonly members: KnownMembers;
    readonly lostHistory: LostHistory;
    readonly log: { readonly durable: LogState };
    readonly nowMs: () => number;
  }) {
    this.#config = parts.config;
    this.#members = parts.members;
    this.#lostHistory = parts.lostHistory;
    this.#log = parts.log;
    this.#nowMs = parts.nowMs;
  }

  /** This server has no history, or one of its own: it may found an ensemble. */
  get isFounder(): boolean {
    return this.#lostHistory.isFresh || this.#lostHistory.isOwn;
  }

  /** The process has started: the time is known for the first time. */
  begin(): void {
    this.#startMs = this.#nowMs();
  }

  /**
   * A connection came about, and the server said this. @returns whether it has data, which was not
   * known
   */
  heard(sid: ServerId, said: SaidDisk): boolean {
    const peer = this.#peer(sid);
    const isNews = said.history !== "none" && peer.data === undefined;
    peer.said = said;
    peer.data = said.history === "none" ? undefined : said;
    peer.isUnheard = false;
    this.#isThere(peer);
    return isNews;
  }

  /** A server has shown that it has data, by another way than its Hello or since it. */
  hasData(sid: ServerId, said?: SaidDisk): void {
    const peer = this.#peer(sid);
    if (said !== undefined) peer.data = said;
    else peer.data ??= { history: "ensemble", ensembleId: undefined };
  }

  /** A server accepts a connection of this one, and has not said anything. */
  answers(sid: ServerId): void {
    const peer = this.#peer(sid);
    peer.isUnheard = true;
    this.#isThere(peer);
  }

  /** A connection has ended, whether or not the server said anything on it. */
  lost(sid: ServerId): void {
    const peer = this.#peer(sid);
    peer.said = undefined;
    this.#isThere(peer);
  }

  /** An attempt to connect ended without a connection. */
  unanswered(sid: ServerId, tookMs: number): void {
    const { foundingWaitMs } = this.#config;
    const peer = this.#peer(sid);
    if (foundingWaitMs === undefined || peer.said !== undefined) return;
    peer.isUnheard = false;
    // 1. The link to S3 drops packets for 4 s.
    // 2. An attempt that began before then lasts until its own timeout, and says nothing about the
    //    time since.
    if (this.#nowMs() - tookMs >= peer.thereMs + foundingWaitMs) peer.isAbsent = true;
  }

  /** Another listed server that was heard, and had data: no ensemble is founded beside it. */
  get dataHolder(): ServerId | undefined {
    for (const [sid, { data }] of this.#listed()) if (data !== undefined) return sid;
    return undefined;
  }

  /** Whether a server says, on its present connection, that it has nothing logged. */
  saidBlank(sid: ServerId): boolean {
    const history = this.#peers.get(sid)?.said?.history;
    return history === "none" || history === "attempt";
  }

  /**
   * A listed server that has data of another ensemble than one with this id. It may have the
   * number of that one's leader: two hosts have it then.
   */
  dataOfAnother(ensembleId: string): { readonly sid: ServerId; readonly ensembleId: string } | undefined {
    for (const [sid, { data }] of this.#listed()) {
      if (data?.history !== "ensemble" || data.ensembleId === undefined || data.ensembleId === "") continue;
      if (data.ensembleId !== ensembleId) return { sid, ensembleId: data.ensembleId };
    }
    return undefined;
  }

  /** The id that a server named on its present connection; empty if there was none. */
  ensembleIdOf(sid: ServerId): string {
    return this.#peers.get(sid)?.said?.ensembleId ?? "";
  }

  /**
   * Whether a configuration that another server knows to be committed may be of this server's
   * ensemble:
   *
   * 1. S5 is the first server of a new ensemble, S1 to S3 are of the old one, without a leader.
   * 2. S4 has lost its disk. It hears of both, and belongs to neither yet.
   * 3. S1 and S2 hear from S4 that S5 alone votes. Without this, they would wait for S5.
   *
   * @param theirs the ensemble that the server has data of; undefined if it has none
   */
  mayKnowMembers(from: ServerId, theirs: string | undefined): boolean {
    const ours = this.#lostHistory.isBlank ? "" : this.#log.durable.identity.ensembleId;
    if (ours !== "") return theirs === ours;
    return theirs === undefined || this.dataBeside(from, theirs) === undefined;
  }

  /** Whether a configuration that a server knows to be committed shows that there is a history. */
  saysOfHistory(from: ServerId, { version }: Members): boolean {
    // One that is fresh has it from its files.
    if (this.isFresh(from)) return false;
    // 1. S3 founds an ensemble, and crashes when its epoch and the first configuration are on its
    //    disk, and nothing is on any other.
    // 2. S1 and S2 get that configuration from S3. Without their votes S3 has no quorum.
    return !this.saidBlank(from) || counterOf(version) !== 0;
  }

  /** Whether another listed server was heard and has more than the epoch of an attempt. */
  get hasHeardOfEntries(): boolean {
    for (const [, { data }] of this.#listed()) if (data !== undefined && data.history !== "attempt") return true;
    return false;
  }

  /**
   * A listed server with data beside which a leader founds an ensemble: a server without a history
   * promises nothing to that leader.
   *
   * @param ensembleId of the leader's attempt: servers that hold an epoch of it are part of it
   */
  dataBeside(leader: ServerId, ensembleId: string): ServerId | undefined {
    // Once the leader holds its epoch, it is other ensembles alone that forbid to follow it.
    const isFounded = this.#peers.get(leader)?.data !== undefined;
    for (const [sid, { data }] of this.#listed()) {
      if (sid === leader || data?.ensembleId === undefined || data.ensembleId === ensembleId) continue;
      // 1. S6 founds an ensemble with S1 and S2, and S7 has tried before: both hold an epoch.
      // 2. All restart. S1 and S2 follow S6, and hear of the attempt of S7, which logged nothing.
      const isOfAnother = data.ensembleId !== "" && data.history !== "attempt";
      if (isOfAnother || !isFounded) return sid;
    }
    return undefined;
  }

  /**
   * Whether others have data beside which no vote of this server helps: of an ensemble, or parts of
   * one. One history that a server has made alone may be founded upon, if that server leads; and a
   * server that holds the epoch of an attempt may lead if no server has anything logged.
   */
  get hasMetData(): boolean {
    if (!this.isFounder) return false;
    const { isFresh } = this.#lostHistory;
    const attemptId = this.#log.durable.identity.ensembleId;
    let mayLeadCount = isFresh ? 1 : 0;
    for (const [, { data }] of this.#listed()) {
      // One whose epoch this server has promised counts on it.
      if (
        data?.ensembleId === undefined ||
        data.history === "attempt" ||
        (isFresh && data.ensembleId !== "" && data.ensembleId === attemptId)
      )
        continue;
      if (data.history !== "own" || mayLeadCount-- === 0) return true;
    }
    return false;
  }

  /** Whether a server said that it is fresh, on its present connection. */
  isFresh(sid: ServerId): boolean {
    const peer = this.#peers.get(sid);
    return peer?.said?.history === "none" && peer.data === undefined;
  }

  /**
   * Everything that keeps this server from founding an ensemble; meaningless for one that is no
   * founder.
   */
  obstacles(): readonly FoundingObstacle[] {
    const obstacles: FoundingObstacle[] = [];
    for (const [sid, { data }] of this.#listed()) {
      if (data !== undefined)
        obstacles.push({ kind: "has-data", sid, history: data.history, ensembleId: data.ensembleId });
    }
    const { sid: own, foundingWaitMs } = this.#config;
    if (foundingWaitMs === undefined) return obstacles;
    for (const sid of this.#members.verifier.voters) {
      const peer = this.#peers.get(sid);
      if (sid === own || peer?.data !== undefined || peer?.said !== undefined) continue;
      if (peer?.isUnheard === true) obstacles.push({ kind: "not-heard", sid });
      else if (peer?.isAbsent !== true) obstacles.push({ kind: "awaited", sid });
      else if (this.#hasPast) obstacles.push({ kind: "absent-beside-a-past", sid });
    }
    return obstacles;
  }

  /**
   * Servers write the configuration in force to their files, with its version. One above 0 says
   * that there was an ensemble, and that this server's part of its data is lost.
   */
  get #hasPast(): boolean {
    return this.#config.hasPast || versionOf(this.#members.committed) !== ZXID_NONE;
  }

  /** Observers, too. Without configurations only listed servers connect. */
  isListed(sid: ServerId): boolean {
    const { committed, lastSeen } = this.#members;
    if (committed === undefined) return true;
    return [committed, lastSeen].some((members) => members?.servers.some((server) => server.sid === sid) === true);
  }

  *#listed(): Generator<[ServerId, Peer]> {
    for (const entry of this.#peers) if (this.isListed(entry[0])) yield entry;
  }

  #isThere(peer: Peer): void {
    peer.thereMs = this.#nowMs();
    peer.isAbsent = false;
  }

  #peer(sid: ServerId): Peer {
    let peer = this.#peers.get(sid);
    if (peer === undefined) {
      const thereMs = this.#startMs ?? this.#nowMs();
      peer = { said: undefined, data: undefined, isUnheard: false, thereMs, isAbsent: false };
      this.#peers.set(sid, peer);
    }
    return peer;
  }
}
