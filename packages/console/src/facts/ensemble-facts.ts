/**
 * Facts of the servers beside their tree. Every ZooKeeper answers `srvr`; the other four-letter
 * words must be on its whitelist. Answers are shared by all users for a second.
 */
import {
  adminCommand,
  type Client,
  type ClientOptions,
  type EnsembleServer,
  isZkError,
  parseConnectString,
} from "@zooid/client";
import { hostPort } from "@zooid/model";
import type { ServerStatus } from "@zooid/model/membership";
import type {
  ClientSessionJson,
  EnsembleJson,
  MemberJson,
  MemberStorageJson,
  SessionsJson,
  WatchedJson,
  Word,
  WordAnswerJson,
} from "../api/shapes.ts";
import { refuse } from "../http/problem.ts";
import { parseCons } from "./cons-text.ts";
import { parseDump } from "./dump-text.ts";
import { ensembleProblems } from "./ensemble-problems.ts";
import { Slices, type Steps } from "./in-slices.ts";
import { parseSrvr, type ServerFigures } from "./srvr-text.ts";
import { parseStorage } from "./storage-text.ts";
import { type WatchCounts, watchCountsOf } from "./watch-counts.ts";
import { type PathsPage, watchesOf } from "./watch-text.ts";

/** A member by its id, where the configuration has one, and by its client address, `host:port`. */
export interface MemberAddress {
  readonly sid: number | null;
  readonly address: string;
}

/** Asks one member a four-letter word. */
export type FourLetterWords = (member: MemberAddress, word: string, signal: AbortSignal) => Promise<string>;

export interface EnsembleFactsOptions {
  readonly name: string;
  /** The connect string, for a server without a configuration in its tree. */
  readonly hosts: string;
  /** Default: by a connection to the client port, without TLS. */
  readonly words?: FourLetterWords;
  readonly nowMs?: () => number;
}

const KEPT_MS = 1_000;
const STORAGE_KEPT_MS = 15_000;
/** The list of all watches may be long. */
const WATCHES_KEPT_MS = 10_000;
/** The most watched nodes that are listed. */
const WATCHED_MAX = 100;
const WORD_TIMEOUT_MS = 2_000;
const SESSIONS_MAX = 5_000;
const WORD_CHARS_MAX = 1_000_000;
const EPHEMERALS_MAX = 200;
/** Characters of an answer that tell a refusal. */
const REFUSAL_CHARS = 200;
const NOT_ALLOWED = /is not executed because it is not in the whitelist/;
const ROLES: ReadonlySet<string> = new Set(["leader", "follower", "observer", "standalone", "read-only"]);

interface Place extends MemberAddress {
  readonly isVoter: boolean;
}

interface Kept<T> {
  readonly value: Promise<T>;
  readonly atMs: number;
}

/** By a connection to the member's client port, with TLS or without. */
export function wordsByConnection(tls?: ClientOptions["tls"]): FourLetterWords {
  const transport = tls === undefined ? {} : { tls };
  return ({ address }, word, signal) =>
    adminCommand(address, word, { signal, timeoutMs: WORD_TIMEOUT_MS, ...transport });
}

export class EnsembleFacts {
  readonly #options: EnsembleFactsOptions;
  readonly #words: FourLetterWords;
  readonly #nowMs: () => number;
  readonly #stop = new AbortController();
  readonly #slices = new Slices();
  /** As the ensemble's configuration last had them. */
  #known: readonly Place[] | undefined;
  #ensemble: Kept<EnsembleJson> | undefined;
  #sessions: Kept<SessionsJson> | undefined;
  #storage: Kept<ReadonlyMap<string, MemberStorageJson>> | undefined;
  #watchCounts: Kept<WatchCounts & { readonly notes: readonly string[] }> | undefined;

  constructor(options: EnsembleFactsOptions) {
    this.#options = options;
    this.#words = options.words ?? wordsByConnection();
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get name(): string {
    return this.#options.name;
  }

  /** The members with their figures, and the problems that these show. */
  ensemble(client: Client): Promise<EnsembleJson> {
    this.#ensemble = this.#kept(this.#ensemble, () => this.#readEnsemble(client));
    return this.#ensemble.value;
  }

  /** The clients of all members that answer. */
  sessions(client: Client): Promise<SessionsJson> {
    this.#sessions = this.#kept(this.#sessions, () => this.#readSessions(client));
    return this.#sessions.value;
  }

  /** The paths that a session watches, of the member that holds it. */
  async watches(client: Client, session: string, page: PathsPage): Promise<WatchedJson> {
    const { places } = await this.#places(client);
    const notes: string[] = [];
    const texts = await Promise.all(places.map((place) => this.#word(place, "wchc", notes)));
    const { paths, total, isCut } = await this.#slices.run(watchesOf(texts, session, page));
    return { paths: [...paths], total, isCut, notes };
  }

  /**
   * How many sessions watch each node, and how many nodes each session, of all members that answer.
   */
  watchCounts(client: Client): Promise<WatchCounts & { readonly notes: readonly string[] }> {
    this.#watchCounts = this.#kept(
      this.#watchCounts,
      async () => {
        const { places } = await this.#places(client);
        const notes: string[] = [];
        const texts = await Promise.all(places.map((place) => this.#word(place, "wchp", notes)));
        return { ...(await this.#slices.run(watchCountsOf(texts, WATCHED_MAX))), notes };
      },
      WATCHES_KEPT_MS,
    );
    return this.#watchCounts.value;
  }

  /** @param sid the member; undefined: the first one */
  async answer(client: Client, word: Word, sid: number | undefined): Promise<WordAnswerJson> {
    const { places } = await this.#places(client);
    const place = sid === undefined ? places[0] : places.find((one) => (one.sid ?? 0) === sid);
    if (place === undefined) throw refuse(404, "NOT_A_MEMBER", `No member has the number ${sid}`);
    const notes: string[] = [];
    const text = await this.#word(place, word, notes);
    const [reason] = notes;
    if (reason !== undefined)
      throw refuse(502, "NO_ANSWER", "The member does not answer this word", { detail: reason });
    return { member: place.address, text: text.slice(0, WORD_CHARS_MAX), isCut: text.length > WORD_CHARS_MAX };
  }

  /** The report of one server, now; else the reason why it is not known. */
  async statusOf(member: MemberAddress): Promise<ServerStatus> {
    const { found, reason } = await this.#figuresOf({ ...member, isVoter: false });
    return found === undefined ? (reason ?? "no answer") : { mode: found.role, zxid: found.zxid };
  }

  /** The number that a server reports, where its four-letter words include `conf`. */
  async reportedSid(member: MemberAddress): Promise<number | undefined> {
    const text = await this.#word(member, "conf", []);
    const [, id] = /^serverId=(\d+)$/m.exec(text) ?? [];
    return id === undefined ? undefined : Number(id);
  }

  stop(): void {
    this.#stop.abort();
  }

  #kept<T>(kept: Kept<T> | undefined, read: () => Promise<T>, keptMs: number = KEPT_MS): Kept<T> {
    const nowMs = this.#nowMs();
    return kept !== undefined && nowMs - kept.atMs < keptMs ? kept : { value: read(), atMs: nowMs };
  }

  /** The members that are known so far with their figures, without a ZooKeeper session. */
  sample(): Promise<readonly MemberJson[]> {
    return this.#read(this.#known ?? this.#listed());
  }

  async #readEnsemble(client: Client): Promise<EnsembleJson> {
    const { places, configVersion } = await this.#places(client);
    this.#known = places;
    const [read, storage] = await Promise.all([this.#read(places), this.#storageOf(places)]);
    const members = read.map((member) =>
      member.isReachable ? { ...member, storage: storage.get(member.address) ?? null } : member,
    );
    return {
      name: this.name,
      configVersion,
      members: [...members],
      problems: [...ensembleProblems(members, Date.now())],
    };
  }

  /** By address. Disks fill slowly: answers are kept for longer than the other figures. */
  #storageOf(places: readonly Place[]): Promise<ReadonlyMap<string, MemberStorageJson>> {
    this.#storage = this.#kept(
      this.#storage,
      async () => {
        const texts = await Promise.all(places.map((place) => this.#word(place, "mntr", [])));
        const found = texts.map((text, i) => [places[i]?.address ?? "", parseStorage(text)] as const);
        return new Map(found.flatMap(([address, storage]) => (storage === undefined ? [] : [[address, storage]])));
      },
      STORAGE_KEPT_MS,
    );
    return this.#storage.value;
  }

  async #read(places: readonly Place[]): Promise<readonly MemberJson[]> {
    const figures = await Promise.all(places.map((place) => this.#figuresOf(place)));
    const newest = figures.reduce((best, { found }) => {
      const zxid = found === undefined ? 0n : BigInt(found.zxid);
      return zxid > best ? zxid : best;
    }, 0n);
    return places.map((place, i) => memberJson(place, figures[i] ?? {}, newest));
  }

  async #places(client: Client): Promise<{ readonly places: readonly Place[]; readonly configVersion: string | null }> {
    const config = await client.getConfig().catch((error: unknown) => {
      // Servers before 3.5 have no such node.
      if (isZkError(error, "NO_NODE") || isZkError(error, "NO_AUTH")) return undefined;
      throw error;
    });
    const servers = config?.servers ?? [];
    if (config !== undefined && servers.length > 0) {
      const places = servers.map((server) => placeOf(server, this.#guessedPort(server, servers)));
      return { places, configVersion: `0x${config.version.toString(16)}` };
    }
    return { places: this.#listed(), configVersion: null };
  }

  /** The servers of the connect string. */
  #listed(): readonly Place[] {
    const { hosts } = parseConnectString(this.#options.hosts);
    return hosts.map(({ host, port }) => ({ sid: null, address: hostPort(host, port), isVoter: true }));
  }

  /**
   * Old configurations have no client addresses. Servers on machines of their own mostly have one
   * port, that of the connect string.
   */
  #guessedPort({ host }: EnsembleServer, servers: readonly EnsembleServer[]): number | undefined {
    if (servers.filter((other) => other.host === host).length > 1) return undefined;
    return parseConnectString(this.#options.hosts).hosts[0]?.port;
  }

  async #figuresOf(place: Place): Promise<Figures> {
    if (!place.address.includes(":")) return { reason: "its client address is not in the ensemble's configuration" };
    try {
      const text = await this.#words(place, "srvr", this.#stop.signal);
      if (NOT_ALLOWED.test(text)) return { reason: "srvr is not in its 4lw.commands.whitelist" };
      const found = parseSrvr(text);
      return found === undefined ? { reason: "it is not serving requests" } : { found };
    } catch (error) {
      return { reason: silenceReason(error) };
    }
  }

  async #readSessions(client: Client): Promise<SessionsJson> {
    const { places } = await this.#places(client);
    const notes: string[] = [];
    const [lists, dump] = await Promise.all([
      Promise.all(
        places.map(async (place) => ({ address: place.address, text: await this.#word(place, "cons", notes) })),
      ),
      this.#dump(places, notes),
    ]);
    return { ...(await this.#slices.run(sessionsOf(lists, dump))), notes };
  }

  /** Every member knows the owners of ephemeral nodes. */
  async #dump(places: readonly Place[], notes: string[]): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    for (const place of places) {
      const text = await this.#word(place, "dump", place === places[0] ? notes : []);
      if (text !== "") return await this.#slices.run(parseDump(text));
    }
    return undefined;
  }

  /** Empty where there is no answer; the notes say why. */
  async #word(member: MemberAddress, word: string, notes: string[]): Promise<string> {
    const { address } = member;
    try {
      const text = await this.#words(member, word, this.#stop.signal);
      if (!NOT_ALLOWED.test(text.slice(0, REFUSAL_CHARS))) return text;
      notes.push(`${address}: add ${word} to 4lw.commands.whitelist to see this`);
    } catch (error) {
      notes.push(`${address} does not answer ${word}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return "";
  }
}

/** Why a member has not answered; of another service's port, what came from there. */
function silenceReason(error: unknown): string {
  if (isZkError(error, "OPERATION_TIMEOUT")) return "no answer in time";
  if (!isZkError(error, "CONNECTION_LOSS") || !(error.cause instanceof Error)) return "no connection";
  return "code" in error.cause ? "no connection" : error.cause.message;
}

/** The sessions of all members' lists: at most {@link SESSIONS_MAX}, and how many there are. */
function* sessionsOf(
  lists: readonly { readonly address: string; readonly text: string }[],
  dump: ReadonlyMap<string, readonly string[]> | undefined,
): Steps<{ readonly sessions: ClientSessionJson[]; readonly total: number }> {
  const sessions: ClientSessionJson[] = [];
  let total = 0;
  for (const { address: member, text } of lists) {
    for (const line of parseCons(text)) {
      yield;
      if (line?.sessionId === undefined) continue;
      total++;
      if (sessions.length >= SESSIONS_MAX) continue;
      const { sessionId: id, address, received, sent, outstanding } = line;
      sessions.push({
        id,
        member,
        address,
        received,
        sent,
        outstanding,
        timeoutMs: line.timeoutMs ?? null,
        lastOperation: line.lastOperation ?? null,
        establishedMs: line.establishedMs ?? null,
        averageLatencyMs: line.averageLatencyMs ?? null,
        watches: null,
        users: null,
        client: null,
        ephemerals: dump === undefined ? null : (dump.get(id) ?? []).slice(0, EPHEMERALS_MAX),
      });
    }
  }
  return { sessions, total };
}

interface Figures {
  readonly found?: ServerFigures;
  readonly reason?: string;
}

function placeOf({ id, role, clientAddress, host }: EnsembleServer, guessedPort: number | undefined): Place {
  const port = clientAddress?.port ?? guessedPort;
  const address = port === undefined ? host : hostPort(clientAddress?.host ?? host, port);
  return { sid: id, address, isVoter: role === "participant" };
}

function memberJson({ sid, address, isVoter }: Place, { found, reason }: Figures, newest: bigint): MemberJson {
  const place = { sid, address, isVoter, isReachable: found !== undefined, reason: reason ?? null };
  if (found === undefined) {
    return {
      ...place,
      role: "unknown",
      version: null,
      zxid: null,
      epoch: null,
      lagZxids: null,
      connections: null,
      outstanding: null,
      nodeCount: null,
      latencyMs: null,
      received: null,
      sent: null,
      storage: null,
    };
  }
  const zxid = BigInt(found.zxid);
  const epoch = Number(zxid >> 32n);
  const lag = BigInt(epoch) === newest >> 32n ? Number(newest - zxid) : null;
  const { version, connections, outstanding, nodeCount, latencyMs, received, sent } = found;
  return {
    ...place,
    role: ROLES.has(found.role) ? (found.role as MemberJson["role"]) : "unknown",
    version,
    zxid: found.zxid,
    epoch,
    lagZxids: lag,
    connections,
    outstanding,
    nodeCount,
    latencyMs,
    received,
    sent,
    storage: null,
  };
}
