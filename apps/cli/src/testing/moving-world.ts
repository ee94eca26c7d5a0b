/**
 * An Apache ensemble with clients, its follower and the members of a new ensemble, as a model: it
 * answers the acts of a take-over, and checks after each what may never be.
 */
import { assertNever, composeZxid, type Zxid } from "@zooid/model";
import type { Action, ActKind, Acts, Answer, Reply } from "../migrate/take-over/action.ts";
import type { FollowedEnd, HistoryPlace, SyncFacts } from "../migrate/take-over/facts.ts";

interface ApacheModel {
  readonly address: string;
  readonly sid: number;
  isRunning: boolean;
  isBlocked: boolean;
}

interface Entry {
  readonly zxid: Zxid;
  readonly kind: "write" | "expired" | "request" | "reconfig";
  readonly session: string;
}

/** How an act goes wrong. */
export const FAULTS = ["refused", "lost", "lost-answer", "slow", "crash", "crash-behind"] as const;
export type Fault = (typeof FAULTS)[number];

/** The process of the take-over has ended. */
export class Crash extends Error {}

export interface WorldOptions {
  /** A server whose client port the operator's command leaves open. */
  readonly leak?: number;
  /** Whether servers have clients without a session that is known. */
  readonly hidesClients?: boolean;
  readonly disksAhead?: boolean;
  /** Whether the servers' lines name ports for clients. Default true. */
  readonly hasClientPorts?: boolean;
  /** Whether a member does not install the state. */
  readonly memberWithout?: boolean;
  readonly shortestMs?: number;
  /** Addresses of three servers for clients. */
  readonly addresses?: readonly string[];
  /** Sids of servers at which the fence fails, and nothing is known. */
  readonly lost?: readonly number[];
}

const OWN_SESSION = "0xcafe";
const SLOW_MS = 100_000;
const ACT_MS = 5;

export class MovingWorld {
  readonly apache: readonly ApacheModel[];
  readonly log: Entry[] = [];
  /** Writes that were answered by Apache. */
  acked = 0;
  sids: readonly number[] = [1, 2, 3];
  removed: readonly string[] = [];
  epoch = 5;
  leader = 3;
  follower = { length: 0, isFinished: false, syncedLength: undefined as number | undefined };
  archivedLength = 0;
  members = {
    areOpen: false,
    isClosedAgain: false,
    installed: undefined as { epoch: number; length: number } | undefined,
  };
  nowMs = 1000;
  /** The kinds of the acts so far. */
  readonly acts: ActKind[] = [];
  /** The act, counted from 0, that goes wrong. */
  fault: { readonly at: number; readonly how: Fault } | undefined;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.apache = [1, 2, 3].map((sid, i) => ({
      address: options.addresses?.[i] ?? `zk${sid}:2181`,
      sid,
      isRunning: true,
      isBlocked: false,
    }));
    this.#clientsWrite();
  }

  reply(action: Action): Reply {
    const { fault } = this;
    const index = this.acts.length;
    this.acts.push(action.kind);
    this.nowMs += ACT_MS;
    this.#clientsWrite();
    const how = fault?.at === index ? fault.how : undefined;
    const isDone = how === undefined || how === "lost-answer" || how === "slow" || how === "crash-behind";
    if (how === "crash") throw new Crash();
    const answer: Answer<ActKind> = isDone
      ? this.#do(action)
      : { kind: "failed", isRefused: how === "refused", reason: `${action.kind}: ${how}` };
    this.check();
    if (how === "crash-behind") throw new Crash();
    if (how === "slow") this.nowMs += SLOW_MS;
    if (how === "lost-answer")
      return { nowMs: this.nowMs, answer: { kind: "failed", isRefused: false, reason: "the answer is lost" } };
    return { nowMs: this.nowMs, answer };
  }

  get isServing(): boolean {
    return (
      this.hasQuorum &&
      this.apache.some(({ sid, isRunning, isBlocked }) => this.sids.includes(sid) && isRunning && !isBlocked)
    );
  }

  /** States that may never be. */
  check(): void {
    const { areOpen, installed } = this.members;
    if (!areOpen) return;
    if (this.hasQuorum) throw new Error("the members serve clients while Apache can commit");
    if (installed === undefined) throw new Error("the members serve clients without a state");
    const missing = this.log.slice(installed.length).filter(({ kind }) => kind === "write");
    if (missing.length > 0) throw new Error(`${missing.length} acknowledged writes are lost`);
    if (installed.epoch <= this.epoch + 1000) throw new Error("the epoch is one that Apache may reach");
  }

  /** Apache serves as before, and nothing of the take-over is left. */
  get isAsBefore(): boolean {
    const { areOpen, installed } = this.members;
    const isWhole = this.apache.every(({ isRunning, isBlocked }) => isRunning && !isBlocked) && this.sids.length === 3;
    return isWhole && !areOpen && installed === undefined && !this.follower.isFinished;
  }

  get hasQuorum(): boolean {
    const running = this.apache.filter(({ sid, isRunning }) => isRunning && this.sids.includes(sid));
    return running.length * 2 > this.sids.length;
  }

  get #isFollowing(): boolean {
    return this.hasQuorum && !this.follower.isFinished;
  }

  #append(kind: Entry["kind"], session = "0x1"): void {
    this.log.push({ zxid: composeZxid(this.epoch, this.log.length + 1), kind, session });
    if (this.#isFollowing) this.follower.length = this.log.length;
  }

  /** Clients write where they can, and sessions end. */
  #clientsWrite(): void {
    if (this.isServing) {
      this.#append("write");
      this.acked++;
    } else if (this.hasQuorum && this.acts.length % 3 === 0) this.#append("expired");
    if (this.#isFollowing) this.follower.length = this.log.length;
  }

  #zxidAt(length: number): Zxid {
    return this.log[length - 1]?.zxid ?? composeZxid(this.epoch, 0);
  }

  #placeAt(length: number): HistoryPlace {
    return { zxid: this.#zxidAt(length), chain: `c${length}`, digest: `d${length}` };
  }

  #since(): SyncFacts {
    const { length, syncedLength } = this.follower;
    const entries = this.log.slice(syncedLength ?? 0, length);
    const requests = entries.filter(({ kind }) => kind === "write" || kind === "request");
    return {
      zxid: this.#zxidAt(length),
      after: syncedLength === undefined ? undefined : this.#zxidAt(syncedLength),
      requests: requests.length,
      reconfigs: entries.filter(({ kind }) => kind === "reconfig").length,
      sessions: requests.map(({ session }) => session).slice(0, 20),
    };
  }

  get #access(): "open" | "closed" | "closed-again" {
    if (this.members.areOpen) return "open";
    return this.members.isClosedAgain ? "closed-again" : "closed";
  }

  #do(action: Action): Answer<ActKind> {
    switch (action.kind) {
      case "look-apache":
        return done<"look-apache">(
          this.apache.map(({ address, sid, isRunning, isBlocked }) => ({
            address,
            sid,
            mode: !isRunning || isBlocked ? undefined : sid === this.leader ? "leader" : "follower",
            fault: isRunning && !isBlocked ? undefined : "refused",
          })),
        );
      case "look-follower":
        return done<"look-follower">({
          state: this.follower.isFinished ? "finished" : this.#isFollowing ? "following" : "searching",
          epoch: this.epoch,
          zxid: this.#zxidAt(this.follower.length),
          lagTransactions: 0,
          digest: "equal",
          voters: this.sids,
          sids: this.sids,
          removed: this.removed,
          withoutClientPort: this.#options.hasClientPorts === false ? [1, 2, 3] : [],
          isWeighted: false,
        });
      case "look-members":
        return done<"look-members">(
          ["m1", "m2", "m3"].map((name) => ({
            name,
            fault: undefined,
            isLeader: name === "m2",
            clients: this.#access,
            standby: this.#placeAt(this.archivedLength),
            lastError: undefined,
            installed:
              this.members.installed === undefined
                ? undefined
                : { epoch: this.members.installed.epoch, ...this.#placeAt(this.members.installed.length) },
          })),
        );
      case "look-clients":
        return done<"look-clients">(
          this.apache.map(({ address, isBlocked }) => ({
            address,
            count: this.#options.hidesClients === true ? undefined : isBlocked ? 0 : 2,
            text: "10.0.0.1:4000",
          })),
        );
      case "look-ports":
        return done<"look-ports">(
          this.apache.map(({ address, sid, isRunning }) => {
            const isLost = this.#options.lost?.includes(sid) === true;
            return { address, sid, open: isRunning && !isLost ? [address] : [], silent: isLost ? [address] : [] };
          }),
        );
      case "look-disks":
        return done<"look-disks">({
          count: 3,
          highestZxid: composeZxid(this.epoch, this.log.length + (this.#options.disksAhead === true ? 1 : 0)),
          directory: "/disk1",
          epoch: this.epoch,
        });
      case "look-sessions":
        return done<"look-sessions">(this.#options.shortestMs ?? 8000);
      case "archive":
        this.archivedLength = this.follower.length;
        return done<"archive">(this.#placeAt(this.archivedLength));
      case "confirm":
        return done<"confirm">(true);
      case "wait":
        this.nowMs += action.ms;
        return NOTHING;
      case "run":
        return this.#run(action);
      case "touch":
        return this.#isFollowing ? NOTHING : NOT_FOLLOWED;
      case "sync": {
        if (!this.#isFollowing) return NOT_FOLLOWED;
        const answer = this.#since();
        this.follower.syncedLength = this.follower.length;
        return done<"sync">(answer);
      }
      case "reconfig-alone":
        if (!this.hasQuorum) return NOT_FOLLOWED;
        this.#append("request", OWN_SESSION);
        this.sids = [action.sid];
        this.removed = this.apache.filter(({ sid }) => sid !== action.sid).map(({ sid }) => `server.${sid}=`);
        this.#append("reconfig", OWN_SESSION);
        this.#append("request", OWN_SESSION);
        return done<"reconfig-alone">(OWN_SESSION);
      case "reconfig-back":
        if (!this.hasQuorum || this.apache.filter(({ isRunning }) => isRunning).length < 2) return NOT_FOLLOWED;
        this.sids = [1, 2, 3];
        this.removed = [];
        this.#append("reconfig", OWN_SESSION);
        return NOTHING;
      case "finish": {
        if (action.zxid !== this.#zxidAt(this.follower.length))
          return { kind: "failed", isRefused: true, reason: "it stands elsewhere" };
        this.follower.isFinished = true;
        this.archivedLength = this.follower.length;
        const end: FollowedEnd = { ...this.#placeAt(this.follower.length), since: this.#since() };
        return done<"finish">(end);
      }
      case "resume":
        this.follower.isFinished = false;
        if (this.#isFollowing) this.follower.length = this.log.length;
        return NOTHING;
      case "take-over":
        if (this.members.areOpen) return { kind: "failed", isRefused: true, reason: "clients are open" };
        if (action.zxid !== this.#zxidAt(this.archivedLength))
          return { kind: "failed", isRefused: true, reason: "another state" };
        this.members.installed = { epoch: action.epoch, length: this.archivedLength };
        return done<"take-over">({ digest: action.digest, missing: this.#options.memberWithout === true ? [2] : [] });
      case "open":
        if (this.members.installed === undefined) return { kind: "failed", isRefused: true, reason: "no state" };
        this.members.areOpen = true;
        return NOTHING;
      case "drop":
        if (this.members.areOpen) return { kind: "failed", isRefused: true, reason: "clients are open" };
        this.members.installed = undefined;
        return NOTHING;
      default:
        return assertNever(action);
    }
  }

  #run({ command, addresses }: Action & { readonly kind: "run" }): Answer<"run"> {
    const named = this.apache.filter(({ address }) => addresses.length === 0 || addresses.includes(address));
    for (const server of named) {
      if (command === "block") server.isBlocked = server.sid !== this.#options.leak;
      else if (command === "fence") server.isRunning = false;
      else {
        // Another leader is elected where the last one was stopped.
        if (!this.hasQuorum) this.epoch++;
        // A server ends at its start where its configuration does not list it.
        if (this.sids.includes(server.sid)) server.isRunning = true;
        server.isBlocked = false;
      }
    }
    if (command === "release") this.#clientsWrite();
    return done<"run">(
      named.map(({ address, sid }) => ({
        address,
        fault: command === "fence" && this.#options.lost?.includes(sid) === true ? "status 255" : undefined,
      })),
    );
  }
}

const NOTHING: Answer<ActKind> = { kind: "done", value: undefined };
const NOT_FOLLOWED: Answer<never> = { kind: "failed", isRefused: true, reason: "the ensemble is not followed now" };

function done<K extends ActKind>(value: Acts[K]["answer"]): Answer<K> {
  return { kind: "done", value };
}
