import { type ConnectionRef, ErrorCode, formatZxid, SESSION_NONE, type Zxid } from "@zooid/model";
import { type Answer, answerBytes, describeAnswer } from "../cluster/answers.ts";
import type { SimServer } from "../cluster/server.ts";
import { AnswerBound } from "../invariants/bounds.ts";
import { Violation } from "../invariants/violation.ts";
import { RestoringWatches } from "../model/restoring-watches.ts";
import { ModelWatches } from "../model/watches.ts";
import type { Run } from "../runs/run.ts";
import type { ClientConnection, SimClient } from "./sim-client.ts";

/** The replies that clients receive: checked, and then acted on. */
export class ClientReplies {
  readonly #run: Run;
  readonly #bound: AnswerBound;

  constructor(run: Run) {
    this.#run = run;
    this.#bound = new AnswerBound(run.plan.limits);
  }

  replied(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    const { connections, hooks, trace, checker } = this.#run;
    const client = connections.clientOf(server, to);
    if (answer.kind === "close") {
      this.#closed(server, to, client);
      return;
    }
    if (client === undefined) return;
    if (client.tenant !== undefined) this.#bound.answered(to, answerBytes(answer));
    const { connection } = client;
    if (connection === undefined || connection.server !== server || connection.ref !== to) return;
    if (connection.isSilent) return;
    hooks.visible?.(server.sid);
    if (trace.hasLines) {
      trace.say(client.name, `receives ${xid} ${zxid < 0 ? "" : formatZxid(zxid as Zxid)} ${describeAnswer(answer)}`);
    }
    trace.mix(xid, zxid);
    switch (answer.kind) {
      case "event":
        checker.event(client, zxid, answer);
        return;
      case "connected":
        this.#connected(client, connection, answer);
        return;
      default:
        this.#answered(client, xid, zxid, answer);
    }
  }

  /** A server's step has ended. */
  endStep(): void {
    this.#bound.endStep();
  }

  #closed(server: SimServer, to: ConnectionRef, client: SimClient | undefined): void {
    const { connections, trace } = this.#run;
    connections.end(server, to);
    if (client?.connection?.server === server && client.connection.ref === to && !client.connection.isSilent) {
      trace.say(client.name, "is disconnected");
      client.forgetConnection();
    }
  }

  #connected(client: SimClient, connection: ClientConnection, answer: Extract<Answer, { kind: "connected" }>): void {
    const { checker, plan, history, sessionChecks, connections, coverage } = this.#run;
    checker.connected(client, answer, plan.sessions !== "replicated");
    if (connection.hasWrongPassword === true) {
      coverage.reached("renewal with a wrong password refused");
      return;
    }
    const isElsewhere = client.lastServer !== connection.server.sid;
    if (answer.timeoutMs === 0) {
      if (isElsewhere && history.sessions.isLocal(client.session))
        coverage.reached("local session refused at another server");
      client.forgetSession();
      return;
    }
    if (client.session !== SESSION_NONE && isElsewhere) {
      const hasUpgraded = history.sessions.hasBegunLocally(client.session);
      coverage.reached(hasUpgraded ? "upgraded session moved to another server" : "session moved to another server");
    }
    client.lastServer = connection.server.sid;
    if (client.tenant !== undefined) history.addHostile(answer.session);
    sessionChecks.order.renewed(answer.session, connection.server.sid, client.xid);
    client.session = answer.session;
    client.timeoutMs = answer.timeoutMs;
    sessionChecks.touches.negotiated(answer.session, answer.timeoutMs);
    client.password = Buffer.from(answer.password, "hex");
    connection.isReady = true;
    if (history.sessions.get(answer.session)?.keptAt !== undefined && client.lastZxid < history.restoredAt)
      coverage.reached("session of a restored state resumed");
    const isNew = client.lastZxid === 0 && client.tenant === undefined;
    if (plan.manners.isRestless && isNew && client.random.chance(0.3)) {
      // It has seen nothing yet, so any server takes it.
      connections.dropBehindRequests(client, "moves before its first answer");
      connections.connect(client);
      return;
    }
    if (client.identity !== undefined) {
      history.identified(answer.session, client.identity);
      connections.send(client, { kind: "read", read: { kind: "auth", identity: client.identity } });
    }
    if (client.lost.count > 0) this.#restoreWatches(client);
  }

  /** As a real client does when it is connected again; others give their watches up. */
  #restoreWatches(client: SimClient): void {
    const { plan, history, connections, coverage } = this.#run;
    const { lost, lastZxid } = client;
    client.lost = new ModelWatches();
    if (!plan.manners.restoresWatches || client.tenant !== undefined) return;
    // A program whose session was restored starts again: nodes that are older than what it has seen
    // are no changes by their zxids.
    if (lastZxid < history.restoredAt) return;
    const existed = (path: string): boolean => history.past.nodeAt(path, lastZxid) !== undefined;
    const data = lost.paths("data");
    const lists = {
      relativeZxid: lastZxid,
      data: data.filter(existed),
      exist: data.filter((path) => !existed(path)),
      child: lost.paths("child"),
      persistent: lost.paths("persistent"),
      recursive: lost.paths("recursive"),
    };
    client.restoring = new RestoringWatches(lists);
    coverage.reached("watches restored at another connection");
    connections.send(client, { kind: "read", read: { kind: "setWatches", lists } });
  }

  #answered(client: SimClient, xid: number, zxid: number, answer: Answer): void {
    const { checker, coverage, connections } = this.#run;
    const sent = client.inFlight.shift();
    if (sent === undefined) throw new Violation("C5", `${client.name} receives ${xid} and has requested nothing`);
    checker.answer(client, sent, xid, zxid, answer);
    const code = answer.kind === "header" ? answer.code : ErrorCode.OK;
    const isHostile = sent.request.kind === "hostile";
    if (code === ErrorCode.EPHEMERAL_ON_LOCAL_SESSION) coverage.reached("ephemeral of a local session refused");
    if (isHostile && code === ErrorCode.QUOTA_EXCEEDED) {
      coverage.reached("hostile tenant refused for what the tree holds");
    }
    if (code === ErrorCode.OPERATION_TIMEOUT) coverage.reached("write refused for want of room");
    if (code === ErrorCode.NO_AUTH) coverage.reached("write without a permission refused");
    if (sent.request.kind === "read" && sent.request.read.kind === "auth") return;
    client.lastZxid = isHostile ? Math.max(client.lastZxid, zxid) : zxid;
    if (code === ErrorCode.SESSION_EXPIRED) {
      connections.drop(client, "learns that its session has expired");
      client.forgetSession();
    } else if (sent.request.kind === "write" && sent.request.request.kind === "close") {
      connections.drop(client, "has closed its session");
      client.forgetSession();
    }
  }
}
