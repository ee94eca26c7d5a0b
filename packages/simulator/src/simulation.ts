import { createHash } from "node:crypto";
import {
  type ConnectionRef,
  composeZxid,
  counterOf,
  ErrorCode,
  epochOf,
  formatZxid,
  MajorityQuorum,
  newTxnHeader,
  OpCode,
  SESSION_NONE,
  type SessionId,
  serverId,
  sessionIdFromHalves,
  sliceOf,
  WatchEventType,
  type Zxid,
} from "@zooid/model";
import { REPLICA_DEFAULTS, Replica, withNoPeers } from "@zooid/replica";
import { type MemoryLogImage, MemoryTxnLog } from "@zooid/txn-log";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/peer";
import { type Answer, answerSink, describeAnswer } from "./answers.ts";
import { type Effect, ModelTree } from "./model-tree.ts";
import { ModelWatches } from "./model-watches.ts";
import { Prng } from "./prng.ts";
import { encodeRequest, type NodeRead, type Read, type SimRequest } from "./requests.ts";
import { Trace } from "./trace.ts";
import { Workload } from "./workload.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** How many events happen. Default 2000. */
  readonly steps?: number;
  /** How many clients there are. Default 5. */
  readonly clients?: number;
  /** Chance of a crash at each step. Default 0.005. */
  readonly crashRate?: number;
  /** Crash at this step of the log (each hand-over and each sync counts) instead of by chance. */
  readonly crashAtLogStep?: number;
  /** Answer before the log is synced: a fault that the checks must find. */
  readonly replyBeforeSync?: boolean;
}

export interface SimulationReport {
  readonly seed: number;
  /** Equal for equal runs. */
  readonly traceHash: string;
  readonly traceLines: number;
  readonly crashes: number;
  readonly acknowledgedWrites: number;
  readonly answers: number;
  readonly events: number;
  readonly expiries: number;
  /** Hand-overs to the log and syncs of it, before everything was brought to its end. */
  readonly logSteps: number;
}

/** What was false, with the last lines of the run and the command that repeats it. */
export class SimulationFailure extends Error {
  override readonly name = "SimulationFailure";
  readonly seed: number;
  readonly transcript: readonly string[];
  constructor(seed: number, what: string, transcript: readonly string[], options?: ErrorOptions) {
    super(
      `seed ${seed}: ${what}\n${transcript.slice(-30).join("\n")}\nrepeat: npm run simulate -- --from ${seed} --seeds 1`,
      options,
    );
    this.seed = seed;
    this.transcript = transcript;
  }
}

const TICK_MS = 100;
const TIMEOUT_MS = 1000;
const TRACE_KEPT = 200;

interface Sent {
  readonly xid: number;
  readonly request: SimRequest;
}

/** A client: one session at a time, any number of requests in flight, reconnects at will. */
interface Client {
  readonly name: string;
  connection: ConnectionRef | undefined;
  isConnected: boolean;
  session: SessionId;
  password: Uint8Array;
  xid: number;
  lastZxid: number;
  /** When the server last heard of it. */
  heardMs: number;
  readonly inFlight: Sent[];
  readonly watches: ModelWatches;
  /** Events that must come before any answer that shows their zxid. */
  due: { readonly type: WatchEventType; readonly path: string; readonly zxid: number }[];
}

/** Runs one replica with its clients, its log in memory and virtual time, all from one seed, and checks every answer. */
export function runSimulation(options: SimulationOptions): SimulationReport {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: Required<Omit<SimulationOptions, "crashAtLogStep">> & {
    readonly crashAtLogStep: number | undefined;
  };
  readonly #chance: Prng;
  readonly #secrets: Prng;
  readonly #workload: Workload;
  readonly #trace = new Trace(TRACE_KEPT);
  readonly #clients: Client[] = [];
  readonly #model = new ModelTree();
  /** Sessions by the committed history. */
  readonly #sessions = new Set<SessionId>();
  /** Every committed transaction: who asked for it. */
  readonly #committed = new Map<number, string>();
  #modelZxid = 0;
  /** When the end of a session was decided by its timeout. */
  readonly #decidedMs = new Map<SessionId, number>();
  readonly #requests = new Map<string, SimRequest>();
  #expected: Answer | undefined;
  #log: MemoryTxnLog;
  #replica: Replica;
  #nowMs = 0;
  #wallMs = 1_000_000;
  #logSteps = 0;
  #crashes = 0;
  #acknowledged = 0;
  #answers = 0;
  #events = 0;
  #expiries = 0;
  #isCrashing = false;
  #early: (() => void)[] = [];

  constructor(options: SimulationOptions) {
    this.#options = {
      steps: 2000,
      clients: 5,
      crashRate: 0.005,
      replyBeforeSync: false,
      ...options,
      crashAtLogStep: options.crashAtLogStep,
    };
    const root = new Prng(options.seed);
    this.#chance = root.fork("steps");
    this.#secrets = root.fork("secrets");
    this.#workload = new Workload(root.fork("workload"));
    for (let i = 0; i < this.#options.clients; i++) this.#clients.push(newClient(`c${i}`));
    [this.#log, this.#replica] = this.#boot(undefined);
  }

  run(): SimulationReport {
    try {
      for (let i = 0; i < this.#options.steps; i++) this.#step();
      const logSteps = this.#logSteps;
      this.#settle();
      this.#compareTrees();
      this.#logSteps = logSteps;
    } catch (error) {
      if (error instanceof SimulationFailure) throw error;
      this.#violated(`threw ${error instanceof Error ? error.message : String(error)}`, error);
    }
    return {
      seed: this.#options.seed,
      traceHash: this.#trace.hash,
      traceLines: this.#trace.count,
      crashes: this.#crashes,
      acknowledgedWrites: this.#acknowledged,
      answers: this.#answers,
      events: this.#events,
      expiries: this.#expiries,
      logSteps: this.#logSteps,
    };
  }

  #step(): void {
    const dice = this.#chance.below(100);
    if (dice < 55) this.#clientSends();
    else if (dice < 70) this.#propose();
    else if (dice < 85) this.#sync();
    else if (dice < 92) this.#advance(this.#chance.below(150));
    else if (dice < 97) this.#clientDrops();
    else this.#advance(this.#chance.below(1500));
    const { crashAtLogStep, crashRate } = this.#options;
    // Drawn in any case, so that a run with a chosen crash goes the way of the run without it up to there.
    const isUnlucky = this.#chance.chance(crashRate);
    if (crashAtLogStep === undefined ? isUnlucky : this.#isCrashing) {
      this.#isCrashing = false;
      this.#crash();
    }
  }

  /** Everything that is under way comes to its end. */
  #settle(): void {
    for (let i = 0; i < 10; i++) {
      this.#propose();
      while (this.#log.pendingCount > 0) this.#sync();
      while (this.#replica.deliver(100)) {
        // Until nothing is due.
      }
    }
    for (const client of this.#clients) {
      if (client.connection !== undefined && client.isConnected && client.inFlight.length > 0) {
        this.#violated(`${client.name} was never answered ${JSON.stringify(client.inFlight[0])}`);
      }
    }
  }

  #clientSends(): void {
    const client = this.#chance.pick(this.#clients);
    if (client.connection === undefined) {
      this.#connect(client);
      return;
    }
    if (!client.isConnected) return;
    const isClosing = this.#chance.chance(0.01);
    const request: SimRequest = isClosing ? { kind: "write", request: { kind: "close" } } : this.#workload.next();
    const xid = request.kind === "read" && request.read.kind === "ping" ? -2 : ++client.xid;
    this.#trace.add(`${client.name} asks ${xid} ${JSON.stringify(request)}`);
    if (request.kind === "write") this.#requests.set(`${client.session}:${xid}`, request);
    client.inFlight.push({ xid, request });
    if (this.#replica.sessions.get(client.session)?.closing === false) client.heardMs = this.#nowMs;
    const frame = encodeRequest(xid, request);
    this.#replica.receive(client.connection, frame, 0, frame.length);
  }

  #connect(client: Client): void {
    const ref = this.#replica.accept("127.0.0.1");
    client.connection = ref;
    client.isConnected = false;
    client.heardMs = this.#nowMs;
    this.#trace.add(`${client.name} connects as ${client.session}`);
    this.#replica.connect(
      ref,
      {
        protocolVersion: 0,
        lastZxidSeen: client.lastZxid as Zxid,
        timeoutMs: TIMEOUT_MS,
        sessionId: client.session,
        password: { bytes: client.password, start: 0, end: client.password.length },
        readOnly: false,
      },
      this.#secrets.bytes(18),
    );
  }

  #clientDrops(): void {
    const client = this.#chance.pick(this.#clients);
    if (client.connection === undefined) return;
    this.#trace.add(`${client.name} drops its connection`);
    this.#replica.disconnect(client.connection);
    forgetConnection(client);
  }

  #propose(): void {
    if (!this.#replica.hasPrepared) return;
    this.#countLogStep();
    this.#replica.propose();
  }

  #sync(): void {
    if (this.#log.pendingCount === 0) return;
    this.#countLogStep();
    this.#log.syncNext();
  }

  #countLogStep(): void {
    this.#logSteps++;
    if (this.#logSteps === this.#options.crashAtLogStep) this.#isCrashing = true;
  }

  #advance(byMs: number): void {
    this.#nowMs += byMs;
    this.#wallMs += this.#chance.chance(0.05) ? this.#chance.below(10_000) - 5000 : byMs;
    this.#replica.setTime(this.#nowMs, this.#wallMs);
    for (let due = this.#replica.nextExpiryMs(); due !== undefined && due <= this.#nowMs; ) {
      const open = [...this.#replica.sessions.values()].filter(({ closing }) => !closing);
      this.#replica.expireSessions();
      for (const session of open) if (session.closing) this.#decidedMs.set(session.id, this.#nowMs);
      const next = this.#replica.nextExpiryMs();
      if (next === due) break;
      due = next;
    }
  }

  /** The machine dies: of what was not synced a prefix survives, everything in memory is gone. */
  #crash(): void {
    this.#crashes++;
    const keep = this.#chance.below(this.#log.pendingCount + 1);
    const image = this.#log.crash(keep);
    this.#trace.add(`crash, ${keep} unsynced writes survive, tail ${formatZxid(image.log.tail.zxid)}`);
    for (const client of this.#clients) forgetConnection(client);
    [this.#log, this.#replica] = this.#boot(image);
    this.#compareTrees();
  }

  #boot(image: MemoryLogImage | undefined): [MemoryTxnLog, Replica] {
    const log = new MemoryTxnLog({
      sid: 1,
      ensembleId: "simulated",
      takeEpoch: true,
      ...(image === undefined ? {} : { image }),
      handler: {
        appended: ({ generation, zxid }) => {
          if (!this.#options.replyBeforeSync) this.#synced(generation, zxid);
        },
        refused: ({ reason }) => this.#violated(`the log refused: ${reason}`),
        failed: (error) => this.#violated(`the log failed: ${error.message}`),
        warned: () => {},
      },
    });
    const replica: Replica = new Replica(
      {
        ...REPLICA_DEFAULTS,
        sid: serverId(1),
        verifier: new MajorityQuorum([serverId(1)]),
        tickMs: TICK_MS,
        sessionTimeoutMsMin: TIMEOUT_MS,
        sessionTimeoutMsMax: TIMEOUT_MS,
        auth: { superDigest: undefined, digestEnabled: true, skipAcl: false },
        hashSeed: this.#secrets.next(),
      },
      {
        requests: new RequestReader(),
        batcher: new TxnBatchEncoder(1024),
        txns: new TxnReader(),
        hashes: { digest: sha1, sha256 },
        random: () => this.#secrets.next() / 2 ** 32,
      },
      {
        replies: answerSink((to, xid, zxid, answer) => this.#hear(to, xid, zxid, answer)),
        ...withNoPeers({
          get durable() {
            return log.durable;
          },
          append: ({ bytes, start, end }, generation, committed) => {
            log.append({ generation, bytes, start, end, committed });
            if (this.#options.replyBeforeSync) this.#synced(generation, replica.zab.lastProposed);
          },
        }),
        elect: () => {},
        install: () => {},
        roleChanged: () => {},
        note: () => {},
        resume: () => {},
        applied: (header) =>
          this.#applied(
            header.zxid,
            sessionIdFromHalves(header.sessionHigh, header.sessionLow),
            header.cxid,
            header.op,
          ),
      },
    );
    replica.setTime(this.#nowMs, this.#wallMs);
    const reader = new TxnReader();
    const header = newTxnHeader();
    for (const entry of image?.entries ?? []) {
      reader.open(entry.record, 0, entry.record.length, header);
      this.#applied(entry.zxid, sessionIdFromHalves(header.sessionHigh, header.sessionLow), header.cxid, header.op);
      replica.replay(entry.zxid, entry.record, 0, entry.record.length);
    }
    for (const zxid of this.#committed.keys()) {
      if (zxid > replica.tree.applied)
        this.#violated(`${formatZxid(zxid as Zxid)} was committed and is gone after the crash`);
    }
    const { currentEpoch, identity } = log.durable;
    replica.lead(currentEpoch, identity.bootCount);
    this.#trace.add(`serves epoch ${currentEpoch}`);
    return [log, replica];
  }

  #synced(generation: number, zxid: Zxid): void {
    this.#replica.synced(generation, zxid);
    while (this.#replica.deliver(1 + this.#chance.below(5))) {
      // A few at a time, so that the limit is walked too.
    }
  }

  /** A transaction is committed: the model follows, and foretells the answer and the events. */
  #applied(zxid: Zxid, session: SessionId, cxid: number, op: number): void {
    const who = `${session}:${cxid}:${op}`;
    const known = this.#committed.get(zxid);
    if (known !== undefined) {
      if (known !== who) this.#violated(`${formatZxid(zxid)} was ${known} and is ${who}`);
      return;
    }
    const isNext =
      epochOf(zxid) === epochOf(this.#modelZxid as Zxid)
        ? counterOf(zxid) === counterOf(this.#modelZxid as Zxid) + 1
        : epochOf(zxid) > epochOf(this.#modelZxid as Zxid) && counterOf(zxid) === 1;
    if (!isNext) this.#violated(`${formatZxid(zxid)} is applied behind ${formatZxid(this.#modelZxid as Zxid)}`);
    this.#modelZxid = zxid;
    this.#committed.set(zxid, who);
    if (op === OpCode.CREATE_SESSION) this.#sessions.add(session);
    else if (op === OpCode.CLOSE_SESSION) this.#sessionEnds(session, cxid, zxid);
    else {
      const request = this.#requests.get(`${session}:${cxid}`);
      if (request?.kind !== "write") this.#violated(`${who} was committed and never asked for`);
      else this.#expected = this.#model.apply(request.request, session, zxid);
    }
    for (const effect of this.#model.takeEffects()) this.#expectEvents(effect, zxid);
    for (const match of this.#early.splice(0)) match();
  }

  #sessionEnds(session: SessionId, cxid: number, zxid: number): void {
    if (cxid === 0) {
      this.#expiries++;
      for (const client of this.#clients) {
        const decidedMs = this.#decidedMs.get(session);
        if (
          client.session === session &&
          client.isConnected &&
          decidedMs !== undefined &&
          decidedMs - client.heardMs < TIMEOUT_MS
        ) {
          this.#violated(`${client.name} was expired ${decidedMs - client.heardMs} ms after it was heard of`);
        }
      }
    }
    this.#sessions.delete(session);
    this.#expected = this.#model.apply({ kind: "close" }, session, zxid);
  }

  #expectEvents({ kind, path }: Effect, zxid: number): void {
    const parent = path.lastIndexOf("/") === 0 ? "/" : path.slice(0, path.lastIndexOf("/"));
    for (const client of this.#clients) {
      if (client.connection === undefined) continue;
      if (client.watches.tellsOfNode(path, kind === "deleted")) {
        const type = {
          created: WatchEventType.NODE_CREATED,
          deleted: WatchEventType.NODE_DELETED,
          changed: WatchEventType.NODE_DATA_CHANGED,
        }[kind];
        client.due.push({ type, path, zxid });
      }
      if (kind !== "changed" && client.watches.tellsOfChildren(parent)) {
        client.due.push({ type: WatchEventType.NODE_CHILDREN_CHANGED, path: parent, zxid });
      }
    }
  }

  #hear(to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    const client = this.#clients.find((one) => one.connection === to);
    if (client === undefined) return;
    this.#trace.add(`${client.name} hears ${xid} ${zxid} ${describeAnswer(answer)}`);
    switch (answer.kind) {
      case "event":
        this.#hearEvent(client, zxid, answer);
        return;
      case "close":
        this.#replica.disconnect(to);
        forgetConnection(client);
        return;
      case "connected":
        this.#hearConnected(client, answer);
        return;
      default:
        this.#hearAnswer(client, xid, zxid, answer);
    }
  }

  #hearEvent(client: Client, zxid: number, { type, path }: Extract<Answer, { kind: "event" }>): void {
    this.#events++;
    if (zxid > this.#modelZxid) {
      // The first op of a transaction fires before the transaction is told of.
      this.#early.push(() => this.#matchEvent(client, zxid, type, path));
      return;
    }
    this.#matchEvent(client, zxid, type, path);
  }

  #matchEvent(client: Client, zxid: number, type: WatchEventType, path: string): void {
    const i = client.due.findIndex((due) => due.type === type && due.path === path && due.zxid === zxid);
    if (i < 0) this.#violated(`${client.name} hears of ${path} (${type}) at ${zxid}, which is not due`);
    client.due.splice(i, 1);
  }

  #hearConnected(client: Client, { timeoutMs, session, password }: Extract<Answer, { kind: "connected" }>): void {
    if (timeoutMs === 0) {
      if (this.#sessions.has(client.session) && this.#replica.sessions.get(client.session)?.closing === false) {
        this.#violated(`${client.name} was refused its living session`);
      }
      client.session = SESSION_NONE;
      client.password = new Uint8Array(16);
      client.lastZxid = 0;
      return;
    }
    if (client.session !== SESSION_NONE && client.session !== session)
      this.#violated(`${client.name} resumed another session`);
    if (!this.#sessions.has(session)) this.#violated(`${client.name} got a session that is not committed`);
    client.session = session;
    client.password = Buffer.from(password, "hex");
    client.isConnected = true;
  }

  #hearAnswer(client: Client, xid: number, zxid: number, answer: Answer): void {
    this.#answers++;
    const sent = client.inFlight.shift();
    if (sent?.xid !== xid) this.#violated(`${client.name} hears ${xid} where ${sent?.xid} is due`);
    if (sent === undefined) return;
    if (zxid < client.lastZxid) this.#violated(`${client.name} saw ${client.lastZxid} and now sees ${zxid}`);
    client.lastZxid = zxid;
    const late = client.due.find((due) => due.zxid <= zxid);
    if (late !== undefined)
      this.#violated(`${client.name} sees ${zxid} before the event of ${late.path} at ${late.zxid}`);
    if (sent.request.kind === "write") {
      this.#acknowledged++;
      if (zxid > this.#log.durable.tail.zxid) this.#violated(`${zxid} was acknowledged and is not durable`);
      this.#same(client, answer, this.#expected);
    } else {
      this.#checkRead(client, sent.request.read, answer);
    }
  }

  #checkRead(client: Client, read: Read, answer: Answer): void {
    this.#same(client, answer, this.#foretellRead(client, read));
  }

  /** What a read is answered with; what it arms or removes is noted. */
  #foretellRead({ session, watches }: Client, read: Read): Answer {
    switch (read.kind) {
      case "ping":
        return { kind: "header", code: ErrorCode.OK };
      case "sync":
        return { kind: "path", path: read.path };
      case "addWatch":
        watches.add(read.mode, read.path);
        return { kind: "integer", value: ErrorCode.OK };
      case "checkWatches":
      case "removeWatches": {
        const isFound = watches.contains(read.selector, read.path);
        if (read.kind === "removeWatches") watches.remove(read.selector, read.path);
        return { kind: "header", code: isFound ? ErrorCode.OK : ErrorCode.NO_WATCHER };
      }
      case "ephemerals":
        return { kind: "strings", values: this.#model.ephemerals(session, read.prefix) };
      case "descendants": {
        const value = this.#model.countBelow(read.path);
        return value === undefined ? { kind: "header", code: ErrorCode.NO_NODE } : { kind: "integer", value };
      }
      default:
        return this.#foretellNode(watches, read);
    }
  }

  #foretellNode(watches: ModelWatches, { kind, path, watch }: NodeRead): Answer {
    const node = this.#model.read(path);
    if (watch && (node !== undefined || kind === "exists")) watches.add(kind === "children" ? "child" : "data", path);
    if (node === undefined) return { kind: "header", code: ErrorCode.NO_NODE };
    const { data, stat, children } = node;
    if (kind === "data") return { kind, data, stat };
    return kind === "exists" ? { kind: "stat", stat } : { kind, children };
  }

  #same(client: Client, answer: Answer, expected: Answer | undefined): void {
    const found = describeAnswer(answer);
    const foretold = expected === undefined ? "nothing" : describeAnswer(expected);
    if (found !== foretold) this.#violated(`${client.name} hears ${found}, the model says ${foretold}`);
  }

  /** The real tree and the model hold the same, and no ephemeral outlives its session. */
  #compareTrees(): void {
    const { tree } = this.#replica;
    let count = 0;
    for (const path of this.#model.paths()) {
      count++;
      const { bytes, start, end } = sliceOf(path);
      const node = tree.find(bytes, start, end);
      if (node === 0) this.#violated(`${path} is missing`);
      const seen = { kind: "none" as string, text: "" };
      const sink = answerSink((_, __, ___, answer) =>
        Object.assign(seen, { kind: answer.kind, text: describeAnswer(answer) }),
      );
      sink.data(0 as ConnectionRef, 0, composeZxid(0, 0), tree.view(node));
      const model = this.#model.read(path);
      const expected = describeAnswer({ kind: "data", data: model?.data ?? "", stat: model?.stat as never });
      if (seen.text !== expected) this.#violated(`${path} is ${seen.text}, the model says ${expected}`);
    }
    // The root counts twice, as in Apache, and three more nodes are reserved.
    if (tree.nodeCount !== count + 5) this.#violated(`${tree.nodeCount - 5} nodes, the model has ${count}`);
    for (const owner of this.#model.owners()) {
      if (!this.#sessions.has(owner as SessionId)) this.#violated(`an ephemeral outlives its session ${owner}`);
    }
    if (tree.sessionCount !== this.#sessions.size)
      this.#violated(`${tree.sessionCount} sessions, the model has ${this.#sessions.size}`);
  }

  #violated(what: string, cause?: unknown): never {
    throw new SimulationFailure(this.#options.seed, what, this.#trace.lines, { cause });
  }
}

function newClient(name: string): Client {
  return {
    name,
    connection: undefined,
    isConnected: false,
    session: SESSION_NONE,
    password: new Uint8Array(16),
    xid: 0,
    lastZxid: 0,
    heardMs: 0,
    inFlight: [],
    watches: new ModelWatches(),
    due: [],
  };
}

/** What a client knew of a connection dies with it; its session and what it saw do not. */
function forgetConnection(client: Client): void {
  client.connection = undefined;
  client.isConnected = false;
  client.inFlight.length = 0;
  client.watches.clear();
  client.due = [];
}

function sha1(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
