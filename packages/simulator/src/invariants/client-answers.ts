import { ErrorCode, epochOf, formatZxid, SESSION_NONE, WatchEventType, type Zxid } from "@zooid/model";
import type { NodeRead, Read, SimRequest } from "../clients/requests.ts";
import type { Sent, SimClient } from "../clients/sim-client.ts";
import { type Answer, describeAnswer } from "../cluster/answers.ts";
import { type Committed, type History, isAddition } from "../model/history.ts";
import { Violation } from "./violation.ts";

/**
 * The guarantees to clients (reference on ZAB, C1 to C11), asserted at every answer and event. An
 * answer carries the zxid that it shows, so it is compared with the model at exactly that zxid: no
 * search is needed.
 */
export class Checker {
  readonly #history: History;
  answers = 0;
  acknowledged = 0;
  events = 0;

  constructor(history: History) {
    this.#history = history;
  }

  /**
   * A server is about to apply a transaction: the events of its clients must arrive before any
   * answer that shows it.
   */
  applying(clients: Iterable<SimClient>, { effects, zxid }: Committed): void {
    if (effects.length === 0) return;
    for (const client of clients) {
      for (const { kind, path } of effects) {
        if (kind === "acl") continue;
        const parent = path.lastIndexOf("/") === 0 ? "/" : path.slice(0, path.lastIndexOf("/"));
        if (client.watches.firesForNode(path, kind === "deleted")) {
          client.due.push({ type: EVENT_TYPES[kind], path, zxid });
        }
        if (kind !== "changed" && client.watches.firesForChildren(parent)) {
          client.due.push({ type: WatchEventType.NODE_CHILDREN_CHANGED, path: parent, zxid });
        }
      }
    }
  }

  /** It has applied it: by now all events were sent. */
  applied(clients: Iterable<SimClient>): void {
    for (const { due, name } of clients) {
      const [missed] = due;
      if (missed === undefined) continue;
      throw new Violation("C8", `${name} received no event of ${missed.path} at ${formatZxid(missed.zxid as Zxid)}`);
    }
  }

  event(client: SimClient, zxid: number, { type, path }: Extract<Answer, { kind: "event" }>): void {
    this.events++;
    if (client.tenant !== undefined) return;
    const i = client.due.findIndex((due) => due.type === type && due.path === path && due.zxid === zxid);
    if (i < 0 && client.restoring?.fires(zxid, type, path) === true) return;
    if (i < 0) {
      throw new Violation(
        "C8",
        `${client.name} hears of ${path} (${type}) at ${formatZxid(zxid as Zxid)}, which is not due`,
      );
    }
    client.due.splice(i, 1);
  }

  /** @param mayBeLocal whether sessions begin as local ones */
  connected(
    client: SimClient,
    { timeoutMs, session }: Extract<Answer, { kind: "connected" }>,
    mayBeLocal: boolean,
  ): void {
    if (client.connection?.hasWrongPassword === true) {
      if (timeoutMs === 0) return;
      throw new Violation("C10", `${client.name} renews its session with a wrong password`);
    }
    if (timeoutMs === 0) {
      // Its server may have crashed since, or this is another server.
      if (this.#history.sessions.isLocal(client.session)) return;
      const life = this.#history.sessions.get(client.session);
      // A local session that its client left while it was upgraded: the leader did not know it yet.
      const isUpgraded = this.#history.sessions.hasBegunLocally(client.session);
      if (isUpgraded && (life?.createdZxid ?? 0) > (client.connection?.openedZxid ?? 0)) return;
      if (life?.closedZxid === undefined) {
        throw new Violation("C10", `${client.name} is answered that its session has expired, and it lives`);
      }
      return;
    }
    if (client.session !== SESSION_NONE && client.session !== session) {
      throw new Violation("C10", `${client.name} requested its session and got another`);
    }
    const life = this.#history.sessions.get(session);
    const epoch = client.connection?.server.replica.zab.epoch ?? 0;
    if (life?.restoredAt !== undefined && epoch > epochOf(life.restoredAt as Zxid)) {
      throw new Violation("R1", `${client.name} has a session of the past in epoch ${epoch}`);
    }
    if (life !== undefined) return;
    if (!mayBeLocal) throw new Violation("G8", `${client.name} gets a session that is not committed`);
    this.#history.sessions.beganLocally(session);
  }

  answer(client: SimClient, sent: Sent, xid: number, zxid: number, answer: Answer): void {
    this.answers++;
    const { name } = client;
    if (sent.xid !== xid) throw new Violation("C5", `${name} receives ${xid} where ${sent.xid} is due`);
    // Only the order of a tenant's answers is known.
    if (sent.request.kind === "hostile") return;
    if (sent.request.kind === "read" && sent.request.read.kind === "auth") {
      this.#same(client, "C9", answer, { kind: "header", code: ErrorCode.OK });
      return;
    }
    if (zxid < client.lastZxid) {
      throw new Violation(
        "C3",
        `${name} saw ${formatZxid(client.lastZxid as Zxid)} and now sees ${formatZxid(zxid as Zxid)}`,
      );
    }
    const late = client.due.find((due) => due.zxid <= zxid);
    if (late !== undefined) {
      throw new Violation("C7", `${name} sees ${formatZxid(zxid as Zxid)} before the event of ${late.path}`);
    }
    if (sent.request.kind === "write") this.#write(client, sent, zxid, answer);
    else {
      if (sent.request.read.kind === "sync" && zxid < sent.committed) {
        throw new Violation(
          "C6",
          `${name} synced when ${formatZxid(sent.committed as Zxid)} was committed, and sees ${formatZxid(zxid as Zxid)}`,
        );
      }
      this.#same(client, "C9", answer, this.#predictRead(client, sent.request.read, zxid));
      if (sent.request.read.kind === "setWatches") this.#restored(client, zxid);
    }
  }

  #write(client: SimClient, sent: Sent, zxid: number, answer: Answer): void {
    this.acknowledged++;
    const place = this.#history.placeOf(client.session, sent.xid);
    if (
      place === undefined &&
      this.#history.sessions.isLocal(client.session) &&
      isAnsweredLocally(sent.request, answer)
    )
      return;
    if (place === undefined && this.#history.mayLackRoom && isRefusedForRoom(sent.request, answer)) {
      this.#history.refusedForRoom(client.session, sent.xid);
      return;
    }
    if (place !== zxid) {
      throw new Violation(
        "C1",
        `${client.name} is answered ${sent.xid} at ${formatZxid(zxid as Zxid)}, it was committed ${
          place === undefined ? "nowhere" : `at ${formatZxid(place as Zxid)}`
        }`,
      );
    }
    if (zxid <= sent.committed) {
      throw new Violation(
        "C2",
        `${client.name} wrote ${formatZxid(zxid as Zxid)} after ${formatZxid(sent.committed as Zxid)} was committed`,
      );
    }
    this.#same(client, "C9", answer, this.#history.at(zxid)?.answer);
  }

  /** The answer to a read at a zxid. Notes the watches that it adds or removes. */
  #predictRead({ session, watches }: SimClient, read: Read, zxid: number): Answer {
    switch (read.kind) {
      case "ping":
      case "auth":
      case "setWatches":
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
        return { kind: "strings", values: this.#history.past.ephemerals(session, read.prefix, zxid) };
      case "descendants": {
        const value = this.#history.past.countBelow(read.path, zxid);
        return value === undefined ? { kind: "header", code: ErrorCode.NO_NODE } : { kind: "integer", value };
      }
      default:
        this.#arm(watches, read, zxid);
        return this.#history.past.read(read, zxid);
    }
  }

  #restored(client: SimClient, zxid: number): void {
    const { restoring, name, watches } = client;
    client.restoring = undefined;
    restoring?.answered(name, this.#history.past, zxid, watches);
  }

  #arm(watches: SimClient["watches"], { kind, path, watch }: NodeRead, zxid: number): void {
    if (!watch) return;
    if (kind !== "exists" && this.#history.past.nodeAt(path, zxid) === undefined) return;
    watches.add(kind === "children" ? "child" : "data", path);
  }

  #same(client: SimClient, rule: string, answer: Answer, expected: Answer | undefined): void {
    const found = describeAnswer(answer);
    const predicted = expected === undefined ? "nothing" : describeAnswer(expected);
    if (found !== predicted) throw new Violation(rule, `${client.name} receives ${found}, the model says ${predicted}`);
  }
}

/**
 * Whether the server of a local session may give this answer without the leader: to its close, and
 * to a create of an ephemeral.
 */
function isAnsweredLocally(request: SimRequest, answer: Answer): boolean {
  if (request.kind !== "write" || answer.kind !== "header") return false;
  if (request.request.kind === "close") return answer.code === ErrorCode.OK;
  const writes = request.request.kind === "one" ? [request.request.write] : request.request.writes;
  const wantsEphemeral = writes.some((write) => write.kind === "create" && write.ephemeral);
  return wantsEphemeral && answer.code === ErrorCode.EPHEMERAL_ON_LOCAL_SESSION;
}

/**
 * Whether a server may give this answer without the leader where the disks have no room: to an
 * addition.
 */
function isRefusedForRoom(request: SimRequest, answer: Answer): boolean {
  if (request.kind !== "write" || request.request.kind === "close" || answer.kind !== "header") return false;
  return answer.code === ErrorCode.OPERATION_TIMEOUT && isAddition(request.request);
}

const EVENT_TYPES = {
  created: WatchEventType.NODE_CREATED,
  deleted: WatchEventType.NODE_DELETED,
  changed: WatchEventType.NODE_DATA_CHANGED,
} as const;
