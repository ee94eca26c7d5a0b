import { type ConnectionRef, SESSION_NONE, type ServerId, type Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { SESSION_TIMEOUT_MS } from "../cluster/server-options.ts";
import type { Run } from "../runs/run.ts";
import { encodeRequest, type SimRequest } from "./requests.ts";
import type { ClientConnection, SimClient } from "./sim-client.ts";

const PING_XID = -2;
const AUTH_XID = -4;
const SET_WATCHES_XID = -8;

/**
 * The connections of a run's clients to the servers. Frames arrive late and in order, or not at
 * all.
 */
export class ClientConnections {
  readonly #run: Run;
  /** Every connection that its server has not ended, also those that their client has forgotten. */
  readonly #clients = new Map<SimServer, Map<ConnectionRef, SimClient>>();

  constructor(run: Run) {
    this.#run = run;
  }

  clientOf(server: SimServer, ref: ConnectionRef): SimClient | undefined {
    return this.#clients.get(server)?.get(ref);
  }

  refsOf(server: SimServer): readonly ConnectionRef[] {
    return [...(this.#clients.get(server)?.keys() ?? [])];
  }

  /** Clients that receive what a server sends. */
  *listeners(server: SimServer): IterableIterator<SimClient> {
    for (const [ref, client] of this.#clients.get(server) ?? []) {
      const { connection } = client;
      if (connection?.server === server && connection.ref === ref && !connection.isSilent) yield client;
    }
  }

  started(server: SimServer): void {
    this.#clients.set(server, new Map());
  }

  crashed(server: SimServer): void {
    for (const client of this.#clients.get(server)?.values() ?? []) {
      if (client.connection?.server === server && !client.connection.isSilent) client.forgetConnection();
    }
    this.#clients.delete(server);
  }

  /** Connects to a server, by default a random one; nothing happens where that one is down. */
  connect(client: SimClient, sid: ServerId = client.random.pick(this.#run.cluster.sids)): void {
    const { plan, cluster, sessionChecks, trace, history, nowMs } = this.#run;
    const server = cluster.server(sid);
    if (server === undefined) return;
    const ref = server.accept(client.address);
    const { wrongPasswordShare, timeoutsMs } = plan.manners;
    const mayBeWrong = wrongPasswordShare > 0 && client.session !== SESSION_NONE && client.tenant === undefined;
    const hasWrongPassword = mayBeWrong && client.random.below(1000) < wrongPasswordShare;
    const password = hasWrongPassword ? client.password.map((byte) => byte ^ 1) : client.password;
    const timeoutMs = timeoutsMs.length > 1 ? client.random.pick(timeoutsMs) : SESSION_TIMEOUT_MS;
    const connection: ClientConnection = {
      server,
      ref,
      hasWrongPassword,
      openedMs: nowMs,
      openedZxid: history.last,
      isReady: false,
      isSilent: false,
      isLingering: false,
      arrivesMs: 0,
      arrivedMs: nowMs,
    };
    client.connection = connection;
    client.sentMs = nowMs;
    if (client.session !== SESSION_NONE) sessionChecks.touches.negotiated(client.session, timeoutMs);
    this.#clients.get(server)?.set(ref, client);
    if (trace.hasLines) trace.say(client.name, `connects to s${sid} as ${client.session.toString(16)}`);
    this.#deliver(client, connection, () => {
      server.connect(ref, {
        protocolVersion: 0,
        lastZxidSeen: client.lastZxid as Zxid,
        timeoutMs,
        sessionId: client.session,
        password: { bytes: password, start: 0, end: password.length },
        readOnly: false,
      });
    });
  }

  send(client: SimClient, request: SimRequest): void {
    const { plan, trace, history, invariants, hooks, cluster, nowMs } = this.#run;
    const { connection } = client;
    if (connection === undefined) return;
    const xid = xidOf(request) ?? ++client.xid;
    if (trace.hasLines) trace.say(client.name, `requests ${xid} ${JSON.stringify(request)}`);
    if (request.kind !== "read" && xid > 0) history.requested(client.session, xid, request);
    // A standalone server reports nothing that it has not applied, so no client can miss that.
    const committed = plan.isStandalone ? history.last : invariants.committed;
    client.inFlight.push({ xid, request, atMs: nowMs, committed });
    client.sentMs = nowMs;
    // A crash before this request and one after it are different runs, whichever server crashes.
    if (hooks.visible !== undefined) for (const { sid } of cluster.running()) hooks.visible(sid);
    const frame = encodeRequest(xid, request);
    const arrive = (): void => connection.server.receive(connection.ref, frame);
    // Authentication is no request of a session, and does not renew it.
    this.#deliver(client, connection, arrive, xid !== AUTH_XID);
  }

  /** The client closes its connection. */
  drop(client: SimClient, why: string): void {
    const { connection } = client;
    if (connection === undefined) return;
    this.#run.trace.say(client.name, why);
    const { server, ref, isSilent } = connection;
    client.forgetConnection();
    if (!isSilent) this.end(server, ref);
  }

  /** The client closes its connection; frames that it has sent still arrive. */
  dropBehindRequests(client: SimClient, why: string): void {
    const { connection } = client;
    if (connection === undefined) return;
    this.#run.trace.say(client.name, why);
    const { server, ref, isSilent, arrivesMs } = connection;
    connection.isLingering = true;
    client.forgetConnection();
    if (!isSilent) this.end(server, ref, Math.max(1, arrivesMs + 1 - this.#run.nowMs));
  }

  /** Ends a connection once: afterwards its number names another one. */
  end(server: SimServer, ref: ConnectionRef, afterMs = 1): void {
    if (this.#clients.get(server)?.delete(ref) === true) this.#run.after(afterMs, () => server.disconnect(ref));
  }

  #deliver(client: SimClient, connection: ClientConnection, arrive: () => void, isHeard = true): void {
    const { plan, nowMs } = this.#run;
    const { delayMsMin, delayMsMax } = plan;
    const delayMs = delayMsMin + (client.random.next() / 2 ** 32) * (delayMsMax - delayMsMin);
    connection.arrivesMs = Math.max(connection.arrivesMs + 0.001, nowMs + delayMs);
    this.#run.after(connection.arrivesMs - nowMs, () => {
      if ((client.connection !== connection && !connection.isLingering) || connection.isSilent) return;
      const { ref, server } = connection;
      // Frames after the decision to end the session are too late, and those of a stalled
      // connection are not read.
      const isEnding = server.replica.sessions.get(client.session)?.closing === true;
      if (isHeard && !isEnding && !server.isStalled(ref)) connection.arrivedMs = this.#run.nowMs;
      arrive();
    });
  }
}

/** The xid of requests that do not take the client's next one. */
function xidOf(request: SimRequest): number | undefined {
  if (request.kind === "hostile") return request.xid;
  if (request.kind !== "read") return undefined;
  if (request.read.kind === "ping") return PING_XID;
  if (request.read.kind === "setWatches") return SET_WATCHES_XID;
  return request.read.kind === "auth" ? AUTH_XID : undefined;
}
