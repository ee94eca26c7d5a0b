import {
  type ConnectionRef,
  type ElectionMessage,
  formatZxid,
  frameZxid,
  type LinkRef,
  OpCode,
  type PeerMessage,
  type ServerId,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { ConnectionRefusal, ReplicaEvent } from "@zooid/replica";
import type { RestoreEnd } from "@zooid/zab";
import type { Answer } from "../cluster/answers.ts";
import type { ClusterWatcher, Crash } from "../cluster/cluster.ts";
import type { DiskImage } from "../cluster/disk.ts";
import type { SimServer } from "../cluster/server.ts";
import type { RestoringState } from "../cluster/state-image.ts";
import { checkRefusal } from "../invariants/bounds.ts";
import { checkFounding } from "../invariants/founding.ts";
import { describeEvent, isIllegal } from "../invariants/operator-events.ts";
import { checkExpiry } from "../invariants/sessions.ts";
import { describeError, Violation } from "../invariants/violation.ts";
import type { Committed } from "../model/history.ts";
import { coverCrash, coverEvent, coverStep, coverTxn } from "./covered-situations.ts";
import { describeMessage } from "./describe-message.ts";
import type { Run } from "./run.ts";

/** Passes what servers do to the checks, the model, the coverage and the trace of a run. */
export class Observations implements ClusterWatcher {
  readonly #run: Run;
  /** Servers that led after their last step. */
  readonly #leading = new Set<SimServer>();
  #committedCount = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  // Starts and crashes

  startRefused(sid: ServerId, level: number): void {
    const run = this.#run;
    run.trace.say(`s${sid}`, `does not start: its data have level ${level}`);
    run.coverage.reached("start of an unknown level refused");
    run.levels?.startRefused(sid, level);
    const { committed = 1 } = run.levels ?? {};
    // An earlier disk is back, of a level that no version beside the others knows: it is emptied.
    if (level < committed - 1 && run.nowMs >= run.plan.faultsUntilMs) run.cluster.wipe(sid);
    // Its operator gives it a version that knows the level.
    else run.versions.change(sid, level);
    run.cluster.startIn(sid, run.random.below(600));
  }

  starting(sid: ServerId): void {
    this.#run.versions.started(sid);
    this.#run.trace.say(`s${sid}`, "starts");
  }

  started(server: SimServer): void {
    this.#run.connections.started(server);
    this.#run.invariants.stepped(server);
  }

  crashed(server: SimServer, crash: Crash): void {
    const { counts, coverage, history, hooks, trace, invariants, connections } = this.#run;
    const { log } = crash.image.log;
    counts.crashes++;
    hooks.crashed?.(server.sid);
    coverCrash(coverage, server, crash);
    if (history.sessions.hasUnfinishedEnd) coverage.reached("crash between the parts of the end of a session");
    const { promise, currentEpoch, tail } = log;
    const held = `it holds epoch ${currentEpoch} and promised ${promise.epoch} to server ${promise.sid}`;
    trace.say(`s${server.sid}`, `is dead; its log ends at ${formatZxid(tail.zxid)}, ${held}`);
    invariants.crashed(server.sid, log);
    connections.crashed(server);
  }

  wiped(sid: ServerId): void {
    this.#run.invariants.wiped(sid);
  }

  mounted(sid: ServerId, { log }: DiskImage): void {
    this.#run.trace.say(`s${sid}`, "has its disk back");
    this.#run.invariants.mounted(sid, log.log);
  }

  failed(server: SimServer, error: unknown): void {
    const run = this.#run;
    if (error instanceof Violation) {
      run.violation ??= error;
      throw error;
    }
    if (run.cluster.server(server.sid) !== server || run.hooks.failed?.(server, error) === true) return;
    run.violation ??= new Violation("core", `server ${server.sid} threw: ${describeError(error)}`, { cause: error });
    throw run.violation;
  }

  // Steps

  stepped(server: SimServer): void {
    const { replies, invariants, sessionChecks, reaping, shares, watchBound } = this.#run;
    const { connections, files, hooks, trace, coverage, nowMs } = this.#run;
    replies.endStep();
    if (!server.isUp) return;
    invariants.stepped(server);
    files.stepped(server);
    sessionChecks.stepped(server, () => connections.refsOf(server));
    reaping.stepped(server);
    this.#run.levels?.stepped(server);
    shares?.stepped(server);
    watchBound.stepped(server);
    if (invariants.committedCount !== this.#committedCount) hooks.visible?.(server.sid);
    this.#committedCount = invariants.committedCount;
    if (server.isLeading) this.#leading.add(server);
    else this.#leading.delete(server);
    const { durable } = server.disk;
    trace.mix(server.sid, durable.tail.zxid % 65_536, durable.currentEpoch, nowMs * 1000);
    coverStep(coverage, server);
    if (files.isListOfFiles(server)) coverage.reached("list of files in force");
    hooks.stepped?.(server);
  }

  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    const { history, invariants, connections, sessionChecks, reaping, nowMs } = this.#run;
    history.proposed(bytes, start, end, (header) => {
      if (header.op === OpCode.DELETE_CONTAINER) reaping.proposed(server);
      sessionChecks.proposed(server, header);
    });
    invariants.proposed(server, bytes, start, end);
    this.#run.levels?.proposed(server, bytes, start, end);
    const first = frameZxid(bytes, start);
    const last = server.replica.zab.lastProposed;
    for (const client of connections.listeners(server)) {
      const { connection } = client;
      if (connection?.isReady !== true) continue;
      client.heardAt = { first, last, forMs: nowMs - connection.arrivedMs, timeoutMs: client.timeoutMs };
    }
  }

  applying(server: SimServer, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    const { history, invariants, sessionChecks, stamps, plan, checker, connections } = this.#run;
    invariants.applying(server, header.zxid);
    this.#run.levels?.applying(server, header.zxid);
    let committed = history.at(header.zxid);
    if (committed === undefined) {
      history.mayBeFull = plan.tenants > 0 && invariants.newestEpoch > 1;
      committed = history.commit(header, op);
      stamps.committed(header);
      invariants.committing(header.zxid, header.op);
      // A hostile tenant chooses its xids.
      // A session that a restore keeps has more requests by then.
      const isDiscarded = header.zxid < history.last;
      if (!history.isHostile(committed.session) && !isDiscarded) sessionChecks.committed(committed, op, header.origin);
      this.#committed(committed, op);
    }
    checker.applying(connections.listeners(server), committed);
  }

  applied(server: SimServer, header: Readonly<TxnHeader>): void {
    const { history, invariants, sessionChecks, checker, connections, trace } = this.#run;
    invariants.applied(server, header.zxid);
    const session = history.at(header.zxid)?.session;
    if (header.op === OpCode.CLOSE_SESSION && session !== undefined) {
      if (history.sessions.get(session)?.closedZxid === header.zxid) sessionChecks.ended(session);
    }
    checker.applied(connections.listeners(server));
    if (trace.hasLines) trace.say(`s${server.sid}`, `applies ${formatZxid(header.zxid)}`);
  }

  restoring(server: SimServer, zxid: Zxid, restored: RestoringState): void {
    this.#run.invariants.restoring(server, zxid);
    this.#run.restores.installing(server, zxid, restored);
  }

  restoreEnded(server: SimServer, end: RestoreEnd): void {
    this.#run.restores.ended(server, end);
  }

  loaded(server: SimServer): void {
    this.#run.invariants.loaded(server);
    this.#run.restores.loaded(server);
    this.#run.trace.say(`s${server.sid}`, `loads a state at ${formatZxid(server.replica.tree.applied)}`);
  }

  /** The first server applies a transaction. */
  #committed(committed: Committed, first: Readonly<TxnOp>): void {
    const { trace, history, counts, clients, coverage } = this.#run;
    const { session, zxid, cxid, op } = committed;
    trace.mix(zxid % 65_536, cxid, op);
    const life = history.sessions.get(session);
    const isExpiry = life?.endingZxid === zxid && life.isExpired;
    if (isExpiry) {
      counts.expiries++;
      checkExpiry(clients, session, zxid);
    }
    coverTxn(coverage, { committed, first, life, wasLocal: history.sessions.hasBegunLocally(session) });
  }

  // Messages

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    const { cluster, trace, invariants, sessionChecks, windows, transfers, coverage, nowMs } = this.#run;
    if (trace.hasLines) trace.say(`s${server.sid}`, `sends on ${link} ${describeMessage(message)}`);
    invariants.sent(server, link, message);
    if (message.kind === "leader-info") checkFounding(server, cluster);
    sessionChecks.touches.sent(server, message);
    windows?.sent(server, link, message);
    transfers?.sent(server.sid, message, nowMs);
    if (message.kind !== "sync-begin") return;
    if (message.mode === "snap") coverage.reached("whole state by SNAP");
    else coverage.reached(message.mode === "trunc" ? "history by TRUNC" : "history by DIFF");
  }

  received(server: SimServer, link: LinkRef, message: PeerMessage): void {
    this.#run.sessionChecks.received(server, message);
    this.#run.windows?.received(server, link, message);
  }

  voted(server: SimServer, to: ServerId, message: ElectionMessage): void {
    const { trace } = this.#run;
    if (trace.hasLines) trace.say(`s${server.sid}`, `votes to s${to} ${describeMessage(message)}`);
  }

  noted(server: SimServer, event: ReplicaEvent): void {
    const { trace, coverage } = this.#run;
    if (trace.hasLines) trace.say(`s${server.sid}`, `# ${describeEvent(event)}`);
    if (isIllegal(event)) throw new Violation("I32", `server ${server.sid}: ${describeEvent(event)}`);
    const wasLeading = this.#leading.has(server) && server.replica.zab.state !== "leading";
    if (wasLeading && server.replica.pendingSyncCount > 0) coverage.reached("sync at a deposed leader");
    coverEvent(coverage, event);
  }

  snapshotAbandoned(server: SimServer, nextChunk: number): void {
    const { trace, coverage } = this.#run;
    if (trace.hasLines) trace.say(`s${server.sid}`, `# gives up a snapshot before its chunk ${nextChunk}`);
    coverage.reached("SNAP interrupted");
  }

  // Clients

  replied(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    this.#run.replies.replied(server, to, xid, zxid, answer);
  }

  refused(server: SimServer, ref: ConnectionRef, refusal: ConnectionRefusal): void {
    const { connections, trace, coverage } = this.#run;
    const client = connections.clientOf(server, ref);
    if (client === undefined) return;
    trace.say(client.name, `is refused: ${refusal}`);
    if (client.tenant !== undefined) {
      coverage.reached("hostile tenant disconnected");
      return;
    }
    checkRefusal({ client, ref, refusal, watches: server.replica.tree.watches, others: connections.refsOf(server) });
    client.hasTooManyWatches = client.connection?.server === server && client.connection.ref === ref;
    coverage.reached("connection closed for its watches");
  }

  reading(server: SimServer, ref: ConnectionRef): void {
    const { connections, sessionChecks, nowMs } = this.#run;
    const client = connections.clientOf(server, ref);
    const connection = server.replica.connection(ref);
    if (client === undefined || connection?.phase !== "open") return;
    const isCurrent = client.connection?.server === server && client.connection.ref === ref;
    const read = isCurrent ? client.inFlight.find(({ readMs }) => readMs === undefined) : undefined;
    if (read === undefined) return;
    read.readMs = nowMs;
    // Authentication is no request of a session.
    if (read.request.kind === "read" && read.request.read.kind === "auth") return;
    const { session } = connection;
    // Requests behind the one that closes the session are dropped; not all of a tenant's are
    // requests.
    if (session === undefined || session.closing || session.isLocal || client.tenant !== undefined) return;
    sessionChecks.touches.heard(server, session.id);
  }

  batchLeft(): void {
    this.#run.coverage.reached("batch full by its bytes");
  }

  stalled(): void {
    this.#run.coverage.reached("connection not read for a while");
  }
}
