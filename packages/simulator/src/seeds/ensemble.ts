import {
  assert,
  assertNever,
  type ConnectionRef,
  type ElectionMessage,
  ErrorCode,
  formatZxid,
  frameZxid,
  type LinkRef,
  mix32,
  OpCode,
  type PeerMessage,
  type QuorumVerifier,
  SESSION_NONE,
  type ServerId,
  type SessionId,
  sliceOf,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { Refusal, ReplicaEvent } from "@zooid/replica";
import { encodeRequest, type SimRequest } from "../clients/requests.ts";
import { type ClientConnection, SimClient } from "../clients/sim-client.ts";
import { TENANT_ADDRESS, Tenant } from "../clients/tenant.ts";
import { type Answer, answerBytes, answerSink, describeAnswer } from "../cluster/answers.ts";
import type { DiskImage, DiskOptions } from "../cluster/disk.ts";
import { Network } from "../cluster/network.ts";
import { NoChance, Prng } from "../cluster/prng.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import {
  READ_ON_COUNT_MAX,
  SESSION_TIMEOUT_MS,
  type ServerOptions,
  type ServerWatcher,
  SimServer,
  SYNC_LIMIT,
  TICK_MS,
} from "../cluster/server.ts";
import { StateRegistry } from "../cluster/snapshot-transfer.ts";
import { type ChoicePoint, ChoicePoints, type Deviation } from "../exhaustive/choice-points.ts";
import { type Breakable, startFaults } from "../faults/faults.ts";
import { Checker } from "../invariants/client-answers.ts";
import { Invariants } from "../invariants/invariants.ts";
import { describeEvent, isIllegal } from "../invariants/operator-events.ts";
import { Violation } from "../invariants/violation.ts";
import { type Committed, History } from "../model/history.ts";
import { SometimesCounts } from "./coverage.ts";
import { type Plan, verifierOf } from "./plan.ts";

/** What one run did. */
export interface RunReport {
  readonly seed: number;
  /** Equal for equal runs. */
  readonly traceHash: string;
  readonly virtualMs: number;
  readonly steps: number;
  readonly messages: number;
  readonly committed: number;
  readonly acknowledged: number;
  readonly answers: number;
  readonly events: number;
  readonly faults: number;
  readonly crashes: number;
  readonly expiries: number;
  readonly epochs: number;
  readonly logSteps: number;
  readonly sometimes: Readonly<Record<string, number>>;
  readonly violation: Violation | undefined;
}

interface Member {
  readonly sid: ServerId;
  readonly isObserver: boolean;
  server: SimServer | undefined;
  image: DiskImage | undefined;
  lives: number;
  diskOptions: DiskOptions;
  slowUntilMs: number;
  crashesAtFlip: boolean;
  crashesAtSlice: boolean;
  /** How a planned failure of its disk is answered. */
  failsFor: { readonly downMs: number; readonly keep: number | undefined } | undefined;
  pausedSinceMs: number;
  bootDueMs: number;
  wallSkewMs: number;
}

const CLIENT_PATIENCE_MS = 1300;
const PING_AFTER_MS = 500;
/** How long clients go on after the faults have ended. */
const CALM_MS = 1500;
/** By then everybody must be level and every client answered. */
const HEAL_LIMIT_MS = 15_000;
const LEADER_LIMIT_MS = 8000;
/** In scripted runs: how long a server is down or cut off, and within what time of each other events may change places. */
const SCRIPT_DOWN_MS = 30;
const SCRIPT_CUT_MS = 1500;
const SCRIPT_WINDOW_MS = 3;
/** Leader changes after healing: more is a livelock. */
const LEADERS_AFTER_HEALING_MAX = 4;

/**
 * A whole ensemble with its clients and its faults, in virtual time, from one plan. The servers are real; disks, links and clocks are not.
 *
 * ```
 *  0 ──── start ──── faults ──────────────── faultsUntilMs ── calm ── everybody level, last requests ── end
 * ```
 */
export class Ensemble implements ServerWatcher, Breakable {
  readonly #plan: Plan;
  readonly #root: Prng;
  readonly #scheduler: Scheduler;
  readonly #network: Network;
  readonly #registry = new StateRegistry();
  readonly #verifier: QuorumVerifier;
  readonly #history: History;
  readonly #checker: Checker;
  readonly #invariants: Invariants;
  readonly #sometimes = new SometimesCounts();
  readonly #members: readonly Member[];
  readonly #clients: readonly SimClient[];
  readonly #clientsOf = new Map<SimServer, Map<ConnectionRef, SimClient>>();
  readonly #blocks = new Map<string, number>();
  readonly #chance: Prng;
  readonly #lines: string[] | undefined;
  /** Those that led when they were last seen. */
  readonly #leading = new Set<SimServer>();
  /** What each tenant's connection was answered in the present step, in bytes. */
  readonly #answeredBytes = new Map<ConnectionRef, number>();
  #largestAnswer = 0;
  #violation: Violation | undefined;
  #isHealed = false;
  #isClosing = false;
  /** In a scripted run: how many writes a client asks for. */
  #scriptedWrites: number | undefined;
  /** In a scripted run: what could have happened differently. */
  #points: ChoicePoints | undefined;
  #committedBefore = 0;
  #leadersAfterHealing = 0;
  #leaderSince: number | undefined;
  #hash = 0;
  #steps = 0;
  #faults = 0;
  #crashes = 0;
  #expiries = 0;
  #logSteps = 0;
  #noLeaderSinceMs = 0;

  /** @param options.lines where a transcript goes; without it none is made */
  constructor(plan: Plan, options: { readonly lines?: string[] } = {}) {
    this.#plan = plan;
    this.#lines = options.lines;
    this.#root = new Prng(plan.seed);
    const shuffle = (name: string): Prng => (plan.isShuffled ? this.#root.fork(name) : new NoChance());
    this.#scheduler = new Scheduler(shuffle("ties"));
    this.#network = new Network(this.#scheduler, shuffle("network"), plan);
    this.#chance = this.#root.fork("world");
    this.#verifier = verifierOf(plan);
    this.#history = new History(plan.limits);
    this.#checker = new Checker(this.#history);
    this.#invariants = new Invariants(this.#verifier, this.#sometimes);
    this.#members = [...plan.voters, ...plan.observers].map((sid) => ({
      sid,
      isObserver: plan.observers.includes(sid),
      server: undefined,
      image: undefined,
      lives: 0,
      diskOptions: plan,
      slowUntilMs: 0,
      crashesAtFlip: false,
      crashesAtSlice: false,
      failsFor: undefined,
      pausedSinceMs: 0,
      bootDueMs: 0,
      wallSkewMs: 0,
    }));
    const workload = { hasNodeKinds: plan.hasNodeKinds, hasLongTxns: plan.hasShortTurns };
    this.#clients = [
      ...Array.from({ length: plan.clients }, (_, i) => {
        const address = `127.0.0.${i + 1}`;
        return new SimClient(`c${i + 1}`, this.#root.fork(`client-${i}`), { ...workload, address });
      }),
      ...Array.from({ length: plan.tenants }, (_, i) => {
        const random = this.#root.fork(`tenant-${i}`);
        const tenant = new Tenant(random.fork("attacks"), plan.limits);
        return new SimClient(`t${i + 1}`, random, { address: TENANT_ADDRESS, tenant });
      }),
    ];
    if (plan.groups !== undefined) this.#sometimes.reached("hierarchical quorum");
    if (plan.electionAlg === 0) this.#sometimes.reached("basic election");
    if (plan.isStandalone) this.#sometimes.reached("ensemble of one");
  }

  run(): RunReport {
    try {
      this.#start();
      const { faultsUntilMs } = this.#plan;
      this.#runUntil(faultsUntilMs);
      this.#heal();
      const endMs = faultsUntilMs + HEAL_LIMIT_MS;
      let isOver = false;
      while (!isOver && this.nowMs < endMs) {
        this.#runUntil(Math.min(endMs, this.nowMs + 50));
        if (this.nowMs >= faultsUntilMs + CALM_MS) this.#isClosing = true;
        isOver = this.#isClosing && this.#isLevel();
      }
      if (!isOver) throw new Violation("L5", `${HEAL_LIMIT_MS} ms after the last fault: ${this.#whatIsMissing()}`);
      this.#compareTrees();
    } catch (error) {
      this.#violation ??= asViolation(error);
    }
    if (this.#violation !== undefined) this.#say("world", `VIOLATION ${this.#violation.message}`);
    return this.#report();
  }

  /**
   * A short run of a few writes in which only the deviations that are named happen, and that is over when their effects are. For
   * enumerating.
   *
   * @param options.findsPoints whether it is wanted what could have happened differently; there are no points otherwise
   */
  runScript(
    writes: number,
    deviations: readonly Deviation[],
    { findsPoints }: { readonly findsPoints: boolean },
  ): { readonly points: readonly ChoicePoint[]; readonly report: RunReport } {
    const points = findsPoints ? new ChoicePoints(this.#network) : undefined;
    this.#points = points;
    this.#scriptedWrites = writes;
    this.#isHealed = true;
    try {
      for (const member of this.#members) this.#bootIn(member, 1);
      for (const client of this.#clients) this.#act(client);
      const last = deviations.at(-1)?.step ?? -1;
      while (this.nowMs < HEAL_LIMIT_MS && (this.#steps <= last || !this.#isScriptDone())) {
        this.#scriptStep(deviations.filter(({ step }) => step === this.#steps));
        points?.endStep(this.#steps, this.running());
      }
      points?.end(this.#steps, this.running());
      if (!this.#isScriptDone())
        throw new Violation("L5", `${HEAL_LIMIT_MS} ms from the start: ${this.#whatIsMissing()}`);
      this.#compareTrees();
    } catch (error) {
      this.#violation ??= asViolation(error);
    }
    if (this.#violation !== undefined) this.#say("world", `VIOLATION ${this.#violation.message}`);
    return { points: points?.all ?? [], report: this.#report() };
  }

  #scriptStep(deviations: readonly Deviation[]): void {
    let laterBy = 0;
    for (const deviation of deviations) {
      if (this.#lines !== undefined) this.#say("world", `! ${JSON.stringify(deviation)}`);
      switch (deviation.kind) {
        case "crash": {
          const member = this.#member(deviation.sid);
          this.#kill(member, deviation.kept);
          this.#bootIn(member, SCRIPT_DOWN_MS);
          break;
        }
        case "cut":
          this.#isolate(deviation.sid);
          break;
        case "later":
          laterBy = deviation.by;
          break;
        default:
          assertNever(deviation);
      }
    }
    this.#steps++;
    const isLater = laterBy > 0 && this.#scheduler.runLater(laterBy, SCRIPT_WINDOW_MS);
    if (!isLater) this.#scheduler.runNext(HEAL_LIMIT_MS);
    if (this.#violation !== undefined) throw this.#violation;
  }

  #isolate(sid: ServerId): void {
    const pairs = this.sids.flatMap((other) => (other === sid ? [] : [[sid, other] as const, [other, sid] as const]));
    for (const [from, to] of pairs) this.#network.block(from, to);
    this.#after(SCRIPT_CUT_MS, () => {
      for (const [from, to] of pairs) this.#network.unblock(from, to);
    });
  }

  #isScriptDone(): boolean {
    if (this.#network.blockedCount > 0 || this.#members.some(({ server }) => server === undefined)) return false;
    // Whoever has lost its connection must find its session again.
    const isServed = this.#clients.every(({ isDone, connection }) => isDone && connection?.isReady === true);
    return isServed && this.#whatIsMissing() === "";
  }

  #start(): void {
    const plan = this.#plan;
    for (const member of this.#members) this.#bootIn(member, this.#chance.below(300));
    for (const client of this.#clients) this.#act(client);
    const during = { fromMs: plan.faultsFromMs, untilMs: plan.faultsUntilMs };
    startFaults(this, plan.faults, this.#root.fork("faults"), during);
  }

  #runUntil(untilMs: number): void {
    while (this.#violation === undefined && this.#scheduler.runNext(untilMs)) this.#steps++;
    if (this.#violation !== undefined) throw this.#violation;
  }

  #report(): RunReport {
    return {
      seed: this.#plan.seed,
      traceHash: (mix32(this.#hash) >>> 0).toString(16).padStart(8, "0"),
      virtualMs: Math.round(this.nowMs),
      steps: this.#steps,
      messages: this.#network.messageCount + this.#network.electionCount,
      committed: this.#invariants.committedCount,
      acknowledged: this.#checker.acknowledged,
      answers: this.#checker.answers,
      events: this.#checker.events,
      faults: this.#faults,
      crashes: this.#crashes,
      expiries: this.#expiries,
      epochs: this.#invariants.newestEpoch,
      logSteps: this.#logSteps,
      sometimes: this.#sometimes.toJSON(),
      violation: this.#violation,
    };
  }

  // What faults may do

  get sids(): readonly ServerId[] {
    return this.#members.map(({ sid }) => sid);
  }

  get voters(): readonly ServerId[] {
    return this.#plan.voters;
  }

  get nowMs(): number {
    return this.#scheduler.nowMs;
  }

  server(sid: ServerId): SimServer | undefined {
    return this.#member(sid).server;
  }

  running(): readonly SimServer[] {
    return this.#members.flatMap(({ server }) => (server === undefined ? [] : [server]));
  }

  later(delayMs: number, run: () => void): void {
    this.#after(delayMs, () => {
      if (!this.#isHealed) run();
    });
  }

  crash(sid: ServerId, downMs: number): void {
    const member = this.#member(sid);
    if (member.server === undefined) return;
    this.#fault(sid, `crashes for ${downMs} ms`);
    this.#kill(member);
    this.#bootIn(member, downMs);
  }

  crashAtNextFlip(sid: ServerId): void {
    this.#member(sid).crashesAtFlip = true;
  }

  crashAtNextSlice(sid: ServerId): void {
    this.#member(sid).crashesAtSlice = true;
  }

  wipe(sid: ServerId, downMs: number): void {
    const member = this.#member(sid);
    if (!this.#mayWipe(member)) return;
    this.#fault(sid, `loses its disk, for ${downMs} ms`);
    if (member.server !== undefined) this.#kill(member);
    member.image = undefined;
    this.#invariants.wiped(sid);
    this.#bootIn(member, downMs);
  }

  /** A disk may be lost when every other voter has a history and never lost its own: so much is promised, and no more. */
  #mayWipe({ sid, isObserver }: Member): boolean {
    if (isObserver) return true;
    const others = this.#plan.voters.filter((other) => other !== sid);
    return (
      this.#invariants.newestEpoch > 0 &&
      this.#verifier.isQuorum(others) &&
      others.every((other) => !this.#invariants.isWiped(other) && this.#invariants.isFormed(other))
    );
  }

  pause(sid: ServerId, forMs: number): void {
    const { server } = this.#member(sid);
    if (server === undefined || server.isPaused) return;
    this.#fault(sid, `pauses for ${forMs} ms`);
    if (server.isLeading && forMs > SYNC_LIMIT * TICK_MS) this.#sometimes.reached("leader paused beyond the limit");
    server.pause();
    this.#after(forMs, () => {
      if (server.isUp && server.isPaused) server.resume();
    });
  }

  block(from: ServerId, to: ServerId, forMs: number): void {
    const key = `${from}>${to}`;
    const count = this.#blocks.get(key) ?? 0;
    this.#blocks.set(key, count + 1);
    if (count === 0) {
      this.#fault(from, `is not heard by server ${to}`);
      this.#network.block(from, to);
    }
    this.later(forMs, () => {
      const left = (this.#blocks.get(key) ?? 1) - 1;
      this.#blocks.set(key, left);
      if (left === 0) this.#unblock(from, to);
    });
  }

  reset(a: ServerId, b: ServerId): void {
    this.#fault(a, `loses its links to server ${b}`);
    this.#network.reset(a, b);
  }

  halfOpen(a: ServerId, b: ServerId): void {
    this.#fault(a, `closes its links to server ${b}, which is not told`);
    this.#network.halfOpen(a, b);
  }

  clog(from: ServerId, to: ServerId, byMs: number, forMs: number): void {
    this.#fault(from, `needs ${byMs} ms more to reach server ${to}`);
    this.#network.clog(from, to, byMs);
    this.#after(forMs, () => this.#network.unclog(from, to));
  }

  slowDisk(sid: ServerId, syncMs: number, forMs: number): void {
    const member = this.#member(sid);
    this.#fault(sid, `has a disk that needs ${syncMs} ms`);
    member.slowUntilMs = this.nowMs + forMs;
    this.#setDisk(member, { syncMsMin: syncMs / 2, syncMsMax: syncMs });
    this.#after(forMs, () => {
      if (this.nowMs >= member.slowUntilMs) this.#setDisk(member, this.#plan);
    });
  }

  failDisk(sid: ServerId, how: "sync" | "full", downMs: number): void {
    const member = this.#member(sid);
    const { server } = member;
    if (server === undefined || member.failsFor !== undefined) return;
    this.#fault(sid, how === "sync" ? "has a sync that fails" : "has a full disk");
    // After a sync that failed nobody knows what is on the disk; what was refused for want of room is not.
    member.failsFor = { downMs, keep: how === "sync" ? undefined : 0 };
    this.#sometimes.reached(how === "sync" ? "sync failed" : "disk full");
    if (how === "sync") this.failed(server, new Error("the sync failed"));
    else server.disk.fill();
  }

  keepState(sid: ServerId): void {
    const { server } = this.#member(sid);
    if (server === undefined || server.isPaused) return;
    this.#faults++;
    server.keepState();
    this.#say(`s${sid}`, `keeps its state at ${formatZxid(server.replica.tree.applied)}`);
    this.#invariants.stepped(server);
  }

  stepClock(sid: ServerId, byMs: number): void {
    const member = this.#member(sid);
    this.#fault(sid, `has its wall clock moved by ${byMs} ms`);
    member.wallSkewMs += byMs;
    member.server?.skewWallClock(byMs);
  }

  handOver(sid: ServerId, thenCrash: boolean): void {
    const member = this.#member(sid);
    const { server } = member;
    if (server === undefined || server.isPaused) return;
    server.input(() => {
      const successor = server.replica.zab.handOver();
      if (successor === undefined) return;
      this.#fault(sid, `hands over to server ${successor}`);
      this.#sometimes.reached("leader handed over");
    });
    if (!thenCrash) return;
    this.#after(this.#chance.below(40), () => {
      if (member.server === server) this.crash(sid, 300 + this.#chance.below(500));
    });
  }

  cutClients(share: number, chance: Prng): void {
    for (const client of this.#clients) {
      if (client.connection === undefined || !chance.chance(share)) continue;
      this.#faults++;
      this.#say(client.name, "is cut off and does not know");
      client.connection.isSilent = true;
    }
  }

  // What servers tell

  heard(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    const client = this.#clientsOf.get(server)?.get(to);
    if (answer.kind === "close") {
      this.#hangUp(server, to);
      if (client?.connection?.server === server && client.connection.ref === to && !client.connection.isSilent) {
        this.#say(client.name, "is disconnected");
        client.forgetConnection();
      }
      return;
    }
    if (client === undefined) return;
    if (client.tenant !== undefined) this.#measure(to, answer);
    const { connection } = client;
    if (connection === undefined || connection.server !== server || connection.ref !== to) return;
    if (connection.isSilent) return;
    this.#points?.heard(server.sid);
    if (this.#lines !== undefined) {
      this.#say(client.name, `hears ${xid} ${zxid < 0 ? "" : formatZxid(zxid as Zxid)} ${describeAnswer(answer)}`);
    }
    this.#mix(xid, zxid);
    client.heardMs = this.nowMs;
    switch (answer.kind) {
      case "event":
        this.#checker.event(client, zxid, answer);
        return;
      case "connected":
        this.#connected(client, connection, answer);
        return;
      default:
        this.#answered(client, xid, zxid, answer);
    }
  }

  /** In one step a connection is answered no more than what may wait, and some requests that wait for nothing. */
  #measure(to: ConnectionRef, answer: Answer): void {
    const bytes = answerBytes(answer);
    const sum = (this.#answeredBytes.get(to) ?? 0) + bytes;
    this.#answeredBytes.set(to, sum);
    this.#largestAnswer = Math.max(this.#largestAnswer, bytes);
    const most = 4 * this.#plan.limits.waitingAnswerBytesMax + (READ_ON_COUNT_MAX + 2) * this.#largestAnswer;
    if (sum > most) throw new Violation("B3", `in one step a connection is answered ${sum} bytes, of at most ${most}`);
  }

  applying(server: SimServer, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    this.#invariants.applying(server, header.zxid);
    let committed = this.#history.at(header.zxid);
    if (committed === undefined) {
      this.#history.mayBeFull = this.#plan.tenants > 0 && this.#invariants.newestEpoch > 1;
      committed = this.#history.commit(header, op);
      this.#noteCommitted(committed, op);
    }
    this.#checker.applying(this.#listeners(server), committed);
  }

  applied(server: SimServer, header: Readonly<TxnHeader>): void {
    this.#invariants.applied(server, header.zxid);
    this.#checker.applied(this.#listeners(server));
    if (this.#lines !== undefined) this.#say(`s${server.sid}`, `applies ${formatZxid(header.zxid)}`);
  }

  loaded(server: SimServer): void {
    this.#invariants.loaded(server);
    this.#say(`s${server.sid}`, `loads a state at ${formatZxid(server.replica.tree.applied)}`);
  }

  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    this.#history.proposed(bytes, start, end);
    this.#invariants.proposed(server, bytes, start, end);
    const first = frameZxid(bytes, start);
    const last = server.replica.zab.lastProposed;
    for (const client of this.#listeners(server)) {
      const { connection } = client;
      if (connection?.isReady === true) client.heardAt = { first, last, forMs: this.nowMs - connection.arrivedMs };
    }
  }

  stepped(server: SimServer): void {
    if (this.#answeredBytes.size > 0) this.#answeredBytes.clear();
    if (!server.isUp) return;
    this.#invariants.stepped(server);
    if (this.#invariants.committedCount !== this.#committedBefore) this.#points?.heard(server.sid);
    this.#committedBefore = this.#invariants.committedCount;
    if (server.isLeading) this.#leading.add(server);
    else this.#leading.delete(server);
    const { durable } = server.disk;
    this.#mix(server.sid, durable.tail.zxid % 65_536, durable.currentEpoch, this.nowMs * 1000);
    const member = this.#member(server.sid);
    if (member.crashesAtFlip && server.disk.isFlipping && member.server === server) {
      member.crashesAtFlip = false;
      this.#after(this.#chance.below(8) / 2, () => this.#crashAtFlip(member, server));
    }
    if (server.replica.isApplying) this.#sometimes.reached("transaction applied in slices");
    if (server.replica.isPreparing) this.#sometimes.reached("multi prepared in slices");
    if (
      member.crashesAtSlice &&
      member.server === server &&
      (server.replica.isApplying || server.replica.isPreparing || this.#history.hasUnfinishedEnd)
    ) {
      member.crashesAtSlice = false;
      this.#after(0, () => this.#crashAtSlice(member, server));
    }
    if (this.#plan.crashAtLogStep !== undefined) this.#countLogStep(member, server);
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    if (this.#lines !== undefined) this.#say(`s${server.sid}`, `sends on ${link} ${describeMessage(message)}`);
    this.#invariants.sent(server, link, message);
    if (message.kind === "sync-begin") {
      this.#sometimes.reached(
        message.mode === "snap"
          ? "whole state by SNAP"
          : message.mode === "trunc"
            ? "history by TRUNC"
            : "history by DIFF",
      );
    }
  }

  elects(server: SimServer, to: ServerId, message: ElectionMessage): void {
    if (this.#lines !== undefined) this.#say(`s${server.sid}`, `tells s${to} ${describeMessage(message)}`);
  }

  note(server: SimServer, event: ReplicaEvent): void {
    if (this.#lines !== undefined) this.#say(`s${server.sid}`, `# ${describeEvent(event)}`);
    if (isIllegal(event)) throw new Violation("I32", `server ${server.sid}: ${describeEvent(event)}`);
    const wasLeading = this.#leading.has(server) && server.replica.zab.state !== "leading";
    if (wasLeading && server.replica.pendingSyncCount > 0) this.#sometimes.reached("sync at a deposed leader");
    switch (event.kind) {
      case "learner-is-ahead":
        this.#sometimes.reached("leader with a smaller log refused");
        break;
      case "counter-used-up":
        this.#sometimes.reached("counter near its end, new epoch");
        break;
      case "quorum-lost":
        this.#sometimes.reached("leader lost its quorum");
        break;
      case "leader-handed-over":
        this.#sometimes.reached("successor led without an election");
        break;
      default:
    }
  }

  stateAbandoned(server: SimServer, nextPart: number): void {
    if (this.#lines !== undefined) this.#say(`s${server.sid}`, `# gives a state up before its part ${nextPart}`);
    this.#sometimes.reached("SNAP interrupted");
  }

  refused(server: SimServer, ref: ConnectionRef, refusal: Refusal): void {
    const client = this.#clientsOf.get(server)?.get(ref);
    if (client === undefined) return;
    this.#say(client.name, `is refused: ${refusal}`);
    if (client.tenant !== undefined) {
      this.#sometimes.reached("hostile tenant disconnected");
      return;
    }
    const { watches } = server.replica.tree;
    const count = watches.countOf(ref);
    const others = [...(this.#clientsOf.get(server)?.keys() ?? [])];
    if (refusal !== "watch-limit" || others.some((other) => watches.countOf(other) > count)) {
      throw new Violation("B2", `${client.name} is refused: ${refusal}`);
    }
    this.#sometimes.reached("connection closed for its watches");
  }

  stalled(): void {
    this.#sometimes.reached("connection not read for a while");
  }

  failed(server: SimServer, error: unknown): void {
    const member = this.#member(server.sid);
    const planned = member.failsFor;
    if (error instanceof Violation) {
      this.#violation ??= error;
      throw error;
    }
    if (planned === undefined || member.server !== server) {
      if (member.server !== server) return;
      this.#violation ??= new Violation("core", `server ${server.sid} threw: ${describeError(error)}`, {
        cause: error,
      });
      throw this.#violation;
    }
    member.failsFor = undefined;
    this.#fault(server.sid, `ends: ${describeError(error)}`);
    this.#kill(member, planned.keep);
    this.#bootIn(member, planned.downMs);
  }

  /** Clients that hear what a server says. */
  *#listeners(server: SimServer): IterableIterator<SimClient> {
    for (const [ref, client] of this.#clientsOf.get(server) ?? []) {
      const { connection } = client;
      if (connection?.server === server && connection.ref === ref && !connection.isSilent) yield client;
    }
  }

  // Servers

  #member(sid: ServerId): Member {
    const member = this.#members.find((each) => each.sid === sid);
    assert(member !== undefined, `there is a server ${sid}`);
    return member;
  }

  #bootIn(member: Member, delayMs: number): void {
    const dueMs = this.nowMs + delayMs;
    member.bootDueMs = dueMs;
    this.#after(delayMs, () => {
      if (member.server === undefined && member.bootDueMs === dueMs) this.#boot(member);
    });
  }

  #boot(member: Member): void {
    const { sid, isObserver } = member;
    const { electionAlg, isStandalone, counterMax, windowBytes, runBytes, sessions } = this.#plan;
    const options: ServerOptions = {
      sid,
      verifier: this.#verifier,
      isObserver,
      electionAlg,
      standalone: isStandalone,
      ensemble: { localSessions: sessions !== "replicated", localSessionsUpgrading: sessions === "upgrading" },
      isSteady: !this.#plan.isShuffled,
      limits: this.#plan.limits,
      hasShortTurns: this.#plan.hasShortTurns,
      ...(counterMax === undefined || isStandalone ? {} : { counterMax }),
      ...(windowBytes === undefined ? {} : { windowBytes }),
      ...(runBytes === undefined ? {} : { runBytes }),
    };
    const world = {
      scheduler: this.#scheduler,
      network: this.#network,
      registry: this.#registry,
      watcher: this,
    };
    this.#say(`s${sid}`, "starts");
    member.failsFor = undefined;
    const server = new SimServer(
      options,
      member.image,
      member.diskOptions,
      world,
      this.#root.fork(`server-${sid}-${++member.lives}`),
    );
    server.skewWallClock(member.wallSkewMs);
    member.server = server;
    this.#clientsOf.set(server, new Map());
    this.#invariants.stepped(server);
  }

  #kill(member: Member, keep?: number): void {
    const { server, sid } = member;
    if (server === undefined) return;
    this.#crashes++;
    const wasFlipping = server.disk.isFlipping;
    const before = server.disk.durable;
    const pending = server.disk.log.pendingCount;
    const image = server.crash(keep);
    member.server = undefined;
    member.image = image;
    member.failsFor = undefined;
    const { log } = image.log;
    if (wasFlipping) {
      const isKept = log.currentEpoch > before.currentEpoch;
      this.#sometimes.reached(isKept ? "crash with a flip on its way, kept" : "crash with a flip on its way, lost");
    } else if (pending > 0) {
      const isKept = log.tail.zxid > before.tail.zxid;
      this.#sometimes.reached(isKept ? "crash with unsynced entries kept" : "crash with unsynced entries lost");
    }
    if (server.replica.isApplying) this.#sometimes.reached("crash in the middle of a transaction");
    if (server.replica.isPreparing) this.#sometimes.reached("crash while a multi is prepared");
    if (this.#history.hasUnfinishedEnd) this.#sometimes.reached("crash between the parts of the end of a session");
    const { promise, currentEpoch, tail } = log;
    const held = `it holds epoch ${currentEpoch} and promised ${promise.epoch} to server ${promise.sid}`;
    this.#say(`s${sid}`, `is dead; its log ends at ${formatZxid(tail.zxid)}, ${held}`);
    this.#invariants.crashed(sid, log);
    for (const client of this.#clientsOf.get(server)?.values() ?? []) {
      if (client.connection?.server === server && !client.connection.isSilent) client.forgetConnection();
    }
    this.#clientsOf.delete(server);
  }

  #crashAtFlip(member: Member, server: SimServer): void {
    if (member.server !== server) return;
    this.crash(member.sid, this.#chance.below(800));
  }

  #crashAtSlice(member: Member, server: SimServer): void {
    if (member.server !== server) return;
    this.crash(member.sid, this.#chance.below(800));
  }

  #countLogStep(member: Member, server: SimServer): void {
    const { durable } = server.disk;
    if (seenDurable.get(server) === durable) return;
    seenDurable.set(server, durable);
    if (++this.#logSteps !== this.#plan.crashAtLogStep) return;
    this.#after(0, () => {
      if (member.server === server) this.crash(member.sid, 50);
    });
  }

  #setDisk(member: Member, options: DiskOptions): void {
    member.diskOptions = options;
    if (member.server !== undefined) member.server.disk.options = options;
  }

  #unblock(from: ServerId, to: ServerId): void {
    this.#say(`s${from}`, `is heard by server ${to} again`);
    this.#network.unblock(from, to);
    // A dialed connection for elections comes about when both ways are open.
    this.#network.unblock(to, from === to ? to : from);
  }

  // The end

  #heal(): void {
    this.#isHealed = true;
    this.#say("world", "every fault ends");
    for (const a of this.sids) {
      for (const b of this.sids) {
        if (a === b) continue;
        if (this.#network.isBlocked(a, b)) this.#network.unblock(a, b);
        this.#network.unclog(a, b);
      }
    }
    for (const member of this.#members) {
      this.#setDisk(member, this.#plan);
      member.crashesAtFlip = false;
      member.crashesAtSlice = false;
      const { server } = member;
      if (member.failsFor !== undefined) this.#kill(member);
      if (member.server === undefined) this.#bootIn(member, this.#chance.below(300));
      else if (server?.isPaused === true) server.resume();
    }
    this.#leaderSince = undefined;
    this.#noLeaderSinceMs = this.nowMs;
  }

  /** One leader, everybody serving and level with it, every client answered. */
  #isLevel(): boolean {
    this.#watchLeader();
    return this.#whatIsMissing() === "";
  }

  #watchLeader(): void {
    const leader = this.running().find((server) => server.isLeading);
    if (leader === undefined) {
      if (this.nowMs - this.#noLeaderSinceMs > LEADER_LIMIT_MS) {
        throw new Violation("L1", `nobody leads ${LEADER_LIMIT_MS} ms after the last fault: ${this.#states()}`);
      }
      return;
    }
    this.#noLeaderSinceMs = this.nowMs;
    const epoch = leader.replica.zab.epoch;
    if (epoch === this.#leaderSince) return;
    this.#leaderSince = epoch;
    this.#leadersAfterHealing++;
    const limit = this.#plan.counterMax === undefined ? LEADERS_AFTER_HEALING_MAX : Number.POSITIVE_INFINITY;
    if (this.#leadersAfterHealing > limit) {
      throw new Violation("L7", `${this.#leadersAfterHealing} leaders after the last fault: ${this.#states()}`);
    }
  }

  #whatIsMissing(): string {
    const missing: string[] = [];
    const leaders = this.running().filter((server) => server.isLeading);
    const [leader] = leaders;
    if (leader === undefined || leaders.length !== 1) return `${leaders.length} servers lead: ${this.#states()}`;
    const last = leader.replica.tree.applied;
    for (const { sid, server } of this.#members) {
      if (server?.isServing !== true) missing.push(`server ${sid} does not serve`);
      else if (server.replica.tree.applied !== last || server.disk.durable.tail.zxid !== last) {
        missing.push(`server ${sid} is not level`);
      }
    }
    if (leader.replica.zab.lastProposed !== leader.replica.zab.committed && leader.replica.zab.outstandingCount > 0) {
      missing.push("the leader has proposals that are not committed");
    }
    if (this.#history.hasUnfinishedEnd) missing.push("the end of a session is not complete");
    for (const { isDone, name, inFlight } of this.#clients) {
      if (!isDone) missing.push(`${name} waits for ${inFlight.length} answers`);
    }
    return missing.length === 0 ? "" : `${missing.join(", ")}: ${this.#states()}`;
  }

  #states(): string {
    return this.#members
      .map(({ sid, server }) => {
        if (server === undefined) return `s${sid} down`;
        const { zab, tree } = server.replica;
        const isPaused = server.isPaused ? " paused" : "";
        const tail = formatZxid(server.disk.durable.tail.zxid);
        return `s${sid} ${zab.state}/${zab.phase} epoch ${zab.epoch} log ${tail} applied ${formatZxid(tree.applied)}${isPaused}`;
      })
      .join("; ");
  }

  /** Every real tree and the model hold the same, and no ephemeral outlives its session. */
  #compareTrees(): void {
    if (this.#members.some(({ isObserver }) => isObserver)) this.#sometimes.reached("observer served");
    for (const server of this.running()) this.#compareTree(server);
    const { model, sessions } = this.#history;
    for (const owner of model.owners()) {
      const life = sessions.get(owner as never);
      if (life === undefined || life.closedZxid !== undefined) {
        throw new Violation("I26", `an ephemeral outlives its session ${owner}`);
      }
    }
  }

  #compareTree({ sid, replica }: SimServer): void {
    const { tree } = replica;
    const { model, sessions } = this.#history;
    let count = 0;
    for (const path of model.paths()) {
      count++;
      const { bytes, start, end } = sliceOf(path);
      const node = tree.find(bytes, start, end);
      if (node === 0) throw new Violation("C1", `server ${sid} lacks ${path}`);
      let seen = "";
      const sink = answerSink((_, __, ___, answer) => {
        seen = describeAnswer(answer);
      });
      sink.data(0 as ConnectionRef, 0, tree.applied, tree.view(node));
      const known = model.read(path);
      const expected = describeAnswer({ kind: "data", data: known?.data ?? "", stat: known?.stat as never });
      if (seen !== expected)
        throw new Violation("C1", `server ${sid} has ${path} as ${seen}, the model says ${expected}`);
    }
    // The root counts twice, as in Apache, and three more nodes are reserved.
    if (tree.nodeCount !== count + 5) {
      throw new Violation("C1", `server ${sid} has ${tree.nodeCount - 5} nodes, the model has ${count}`);
    }
    let living = 0;
    for (const { closedZxid } of sessions.values()) if (closedZxid === undefined) living++;
    if (tree.sessionCount !== living) {
      throw new Violation("I26", `server ${sid} has ${tree.sessionCount} sessions, the model has ${living}`);
    }
  }

  // Clients

  #act(client: SimClient): void {
    const { thinkMs } = this.#plan;
    this.#after(1 + (client.chance.next() / 2 ** 32) * 2 * thinkMs, () => this.#act(client));
    if (this.nowMs < client.sleepsUntilMs && !this.#isClosing) return;
    const { connection } = client;
    if (connection === undefined) {
      this.#connect(client);
      return;
    }
    const waitsSinceMs = connection.isReady ? client.inFlight[0]?.atMs : connection.openedMs;
    if (waitsSinceMs !== undefined && this.nowMs - waitsSinceMs > CLIENT_PATIENCE_MS) {
      this.#drop(client, "gives up waiting");
      return;
    }
    if (!connection.isReady) return;
    if (this.#isClosing) {
      this.#finish(client);
      return;
    }
    if (this.#scriptedWrites !== undefined) {
      this.#followScript(client, this.#scriptedWrites);
      return;
    }
    const dice = client.chance.below(1000);
    if (dice < 15) this.#drop(client, "drops its connection");
    else if (dice < 20) this.#sleep(client);
    else if (dice < 27) this.#ask(client, { kind: "write", request: { kind: "close" } });
    else if (client.tenant !== undefined) this.#attack(client, client.tenant);
    else if (client.inFlight.length < 6) {
      for (let i = 1 + client.chance.below(3); i > 0; i--) {
        if (client.connection === connection) this.#ask(client, client.workload.next());
      }
    }
    if (this.nowMs - client.sentMs > PING_AFTER_MS) this.#ask(client, { kind: "read", read: { kind: "ping" } });
  }

  #attack(client: SimClient, tenant: Tenant): void {
    if (client.inFlight.length > 0 || client.chance.chance(0.6)) return;
    const { connection } = client;
    for (const request of tenant.next()) if (client.connection === connection) this.#ask(client, request);
  }

  /** The last requests, once what was under way is answered. */
  #finish(client: SimClient): void {
    if (client.isDone) {
      if (this.nowMs - client.sentMs > PING_AFTER_MS) this.#ask(client, { kind: "read", read: { kind: "ping" } });
      return;
    }
    if (client.inFlight.length > 0) return;
    const last = client.lastFinish;
    if (last !== undefined && last === client.xid) {
      client.isDone = true;
      return;
    }
    if (client.tenant === undefined) {
      this.#ask(client, {
        kind: "write",
        request: { kind: "one", write: { kind: "set", path: "/", data: client.name, version: -1 } },
      });
    }
    this.#ask(client, { kind: "read", read: { kind: "sync", path: "/" } });
    this.#ask(client, { kind: "read", read: { kind: "data", path: "/", watch: false } });
    client.lastFinish = client.xid;
  }

  /** A few writes, one behind the other, whether or not they are answered. */
  #followScript(client: SimClient, writes: number): void {
    if (client.inFlight.length > 0) return;
    if (client.xid >= writes) {
      client.isDone = true;
      return;
    }
    const path = `/w${client.xid}`;
    const write = { kind: "create", path, data: client.name, ephemeral: false, sequential: false } as const;
    this.#ask(client, { kind: "write", request: { kind: "one", write } });
  }

  #connect(client: SimClient): void {
    const sid = client.chance.pick(this.#members).sid;
    const { server } = this.#member(sid);
    if (server === undefined) return;
    const ref = server.accept(client.address);
    const connection: ClientConnection = {
      server,
      ref,
      openedMs: this.nowMs,
      isReady: false,
      isSilent: false,
      arrivesMs: 0,
      arrivedMs: this.nowMs,
    };
    client.connection = connection;
    client.sentMs = this.nowMs;
    this.#clientsOf.get(server)?.set(ref, client);
    if (this.#lines !== undefined) this.#say(client.name, `connects to s${sid} as ${client.session.toString(16)}`);
    this.#deliver(client, connection, () => {
      server.connect(ref, {
        protocolVersion: 0,
        lastZxidSeen: client.lastZxid as Zxid,
        timeoutMs: SESSION_TIMEOUT_MS,
        sessionId: client.session,
        password: { bytes: client.password, start: 0, end: client.password.length },
        readOnly: false,
      });
    });
  }

  #ask(client: SimClient, request: SimRequest): void {
    const { connection } = client;
    if (connection === undefined) return;
    const ownXid = request.kind === "hostile" ? request.xid : undefined;
    const xid = request.kind === "read" && request.read.kind === "ping" ? -2 : (ownXid ?? ++client.xid);
    if (this.#lines !== undefined) this.#say(client.name, `asks ${xid} ${JSON.stringify(request)}`);
    if (request.kind !== "read" && xid > 0) this.#history.asked(client.session, xid, request);
    // A server alone tells nobody of what it has not applied yet, so nobody can miss it.
    const committed = this.#plan.isStandalone ? this.#history.last : this.#invariants.committed;
    client.inFlight.push({ xid, request, atMs: this.nowMs, committed });
    client.sentMs = this.nowMs;
    // Whoever dies, it is another thing whether it was before or behind this.
    for (const { sid } of this.#points === undefined ? [] : this.running()) this.#points?.heard(sid);
    const frame = encodeRequest(xid, request);
    this.#deliver(client, connection, () => connection.server.receive(connection.ref, frame));
  }

  /** What a client sends arrives in order, or not at all. */
  #deliver(client: SimClient, connection: ClientConnection, arrive: () => void): void {
    const { delayMsMin, delayMsMax } = this.#plan;
    const delayMs = delayMsMin + (client.chance.next() / 2 ** 32) * (delayMsMax - delayMsMin);
    connection.arrivesMs = Math.max(connection.arrivesMs + 0.001, this.nowMs + delayMs);
    this.#after(connection.arrivesMs - this.nowMs, () => {
      if (client.connection !== connection || connection.isSilent) return;
      const { ref, server } = connection;
      // What comes behind the decision to end its session is too late; what is not read for now is not heard.
      const isEnding = server.replica.sessions.get(client.session)?.closing === true;
      if (!isEnding && !server.isStalled(ref)) connection.arrivedMs = this.nowMs;
      arrive();
    });
  }

  #drop(client: SimClient, why: string): void {
    const { connection } = client;
    if (connection === undefined) return;
    this.#say(client.name, why);
    const { server, ref, isSilent } = connection;
    client.forgetConnection();
    if (isSilent) return;
    this.#hangUp(server, ref);
  }

  /** A connection ends, once: its number names another one afterwards. */
  #hangUp(server: SimServer, ref: ConnectionRef): void {
    if (this.#clientsOf.get(server)?.delete(ref) === true) this.#after(1, () => server.disconnect(ref));
  }

  /** Long enough, now and then, for its session to end. */
  #sleep(client: SimClient): void {
    client.sleepsUntilMs = this.nowMs + 500 + client.chance.below(5000);
    this.#say(client.name, `sleeps until ${Math.round(client.sleepsUntilMs)}`);
    if (client.chance.chance(0.5)) this.#drop(client, "drops its connection");
  }

  #connected(client: SimClient, connection: ClientConnection, answer: Extract<Answer, { kind: "connected" }>): void {
    this.#checker.connected(client, answer, this.#plan.sessions !== "replicated");
    const isElsewhere = client.lastServer !== connection.server.sid;
    if (answer.timeoutMs === 0) {
      if (isElsewhere && this.#history.isLocal(client.session)) {
        this.#sometimes.reached("local session refused at another server");
      }
      client.forgetSession();
      return;
    }
    if (client.session !== SESSION_NONE && isElsewhere) {
      const hasUpgraded = this.#history.hasBegunLocally(client.session);
      this.#sometimes.reached(
        hasUpgraded ? "upgraded session moved to another server" : "session moved to another server",
      );
    }
    client.lastServer = connection.server.sid;
    if (client.tenant !== undefined) this.#history.isHostile(answer.session);
    client.session = answer.session;
    client.password = Buffer.from(answer.password, "hex");
    connection.isReady = true;
  }

  #answered(client: SimClient, xid: number, zxid: number, answer: Answer): void {
    const sent = client.inFlight.shift();
    if (sent === undefined) throw new Violation("C5", `${client.name} hears ${xid} and asked nothing`);
    this.#checker.answer(client, sent, xid, zxid, answer);
    if (answer.kind === "header" && answer.code === ErrorCode.EPHEMERAL_ON_LOCAL_SESSION) {
      this.#sometimes.reached("ephemeral of a local session refused");
    }
    client.lastZxid = sent.request.kind === "hostile" ? Math.max(client.lastZxid, zxid) : zxid;
    if (sent.request.kind === "hostile" && answer.kind === "header" && answer.code === ErrorCode.QUOTA_EXCEEDED) {
      this.#sometimes.reached("hostile tenant refused for what the tree holds");
    }
    if (answer.kind === "header" && answer.code === ErrorCode.SESSION_EXPIRED) {
      this.#drop(client, "learns that its session is over");
      client.forgetSession();
    } else if (sent.request.kind === "write" && sent.request.request.kind === "close") {
      this.#drop(client, "has closed its session");
      client.forgetSession();
    }
  }

  #noteCommitted({ session, cxid, op, zxid, reaped }: Committed, first: Readonly<TxnOp>): void {
    this.#mix(zxid % 65_536, cxid, op);
    const life = this.#history.sessions.get(session);
    if (life?.endingZxid === zxid && life.closedZxid !== zxid)
      this.#sometimes.reached("session closed in several parts");
    if (life?.endingZxid === zxid && life.isExpired) {
      this.#expiries++;
      this.#checkExpiry(session, zxid);
      this.#sometimes.reached("session expired");
    }
    if (op === OpCode.CREATE_SESSION && this.#history.hasBegunLocally(session)) {
      this.#sometimes.reached("local session upgraded");
    }
    if (op === OpCode.MULTI && first.code === ErrorCode.MARSHALLING_ERROR) {
      this.#sometimes.reached("oversized transaction refused");
    }
    if (first.code === ErrorCode.SESSION_MOVED) this.#sometimes.reached("write of a moved session refused");
    if (reaped !== undefined) this.#sometimes.reached(reaped === "container" ? "container reaped" : "TTL node reaped");
  }

  #after(delayMs: number, run: () => void): void {
    this.#scheduler.after(delayMs, run);
  }

  /** The leader must not end the session of a client that it heard of in time. */
  #checkExpiry(session: SessionId, zxid: number): void {
    for (const { heardAt, name, session: own, tenant } of this.#clients) {
      // Not all that a tenant sends is a request of its session.
      if (
        tenant !== undefined ||
        own !== session ||
        heardAt === undefined ||
        heardAt.first > zxid ||
        heardAt.last < zxid ||
        heardAt.forMs >= SESSION_TIMEOUT_MS
      )
        continue;
      throw new Violation("L6", `${name}'s session is ended ${heardAt.forMs} ms after the leader heard of it`);
    }
  }

  // Telling

  #fault(sid: ServerId, what: string): void {
    this.#faults++;
    this.#say(`s${sid}`, `! ${what}`);
  }

  #say(who: string, what: string): void {
    this.#lines?.push(`${this.nowMs.toFixed(3).padStart(10)} ${who.padEnd(5)} ${what}`);
  }

  #mix(...values: readonly number[]): void {
    let hash = this.#hash;
    for (const value of values) hash = Math.imul(hash ^ (value | 0), 0x0100_0193) ^ (hash >>> 15);
    this.#hash = hash;
  }
}

const seenDurable = new WeakMap<SimServer, unknown>();

function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error;
  return new Violation("core", describeError(error), { cause: error });
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function describeMessage(message: PeerMessage | ElectionMessage): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (key === "bytes" || key === "passwordHash") return undefined;
    if (typeof value === "number" && value >= 2 ** 32) return formatZxid(value as Zxid);
    return typeof value === "bigint" ? value.toString(16) : value;
  });
}
