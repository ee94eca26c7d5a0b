import { type ConnectionRef, errorName, formatZxid, SESSION_NONE, type SessionId, type Zxid } from "@zooid/model";
import { encodeRequest, type SimRequest } from "../clients/requests.ts";
import type { Answer, PartAnswer } from "../cluster/answers.ts";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "../invariants/violation.ts";

interface Asked {
  readonly xid: number;
  readonly request: SimRequest;
  readonly text: string;
  /** The commit point when it was sent. */
  readonly committed: number;
}

const TIMEOUT_MS = 2000;
const PING_XID = -2;

/**
 * A client of a scenario: it sends requests on command, stays connected to one server, and checks
 * the answers.
 */
export class ScenarioClient {
  readonly name: string;
  server: SimServer | undefined;
  /** It sends no pings. */
  isSilent = false;
  isReady = false;
  /** Its last answer, as the transcript shows it. */
  lastAnswer = "";
  readonly #isCommitted: (zxid: number) => boolean;
  #ref: ConnectionRef | undefined;
  #session: SessionId = SESSION_NONE;
  #password: Uint8Array = new Uint8Array(16);
  #xid = 0;
  #seen = 0;
  /** The commit point before its last answered sync: no read may show less. */
  #synced = 0;
  #asked: Asked[] = [];
  #lines: string[] = [];

  constructor(name: string, isCommitted: (zxid: number) => boolean) {
    this.name = name;
    this.#isCommitted = isCommitted;
  }

  get waitingCount(): number {
    return this.#asked.length;
  }

  isAt(server: SimServer, ref: ConnectionRef): boolean {
    return this.server === server && this.#ref === ref;
  }

  takeLines(): readonly string[] {
    return this.#lines.splice(0);
  }

  connect(server: SimServer, readOnly = false): void {
    this.server = server;
    this.isReady = false;
    this.#ref = server.accept();
    server.connect(this.#ref, {
      protocolVersion: 0,
      lastZxidSeen: this.#seen as Zxid,
      timeoutMs: TIMEOUT_MS,
      sessionId: this.#session,
      password: { bytes: this.#password, start: 0, end: this.#password.length },
      readOnly,
    });
  }

  ask(request: SimRequest, text: string, committed: number): void {
    if (this.server === undefined || this.#ref === undefined || !this.isReady) {
      this.#lines.push(`${this.name} has no connection`);
      return;
    }
    const xid = ++this.#xid;
    this.#asked.push({ xid, request, text, committed });
    this.server.receive(this.#ref, encodeRequest(xid, request));
  }

  ping(): void {
    if (this.server === undefined || this.#ref === undefined || !this.isReady || this.isSilent) return;
    this.server.receive(this.#ref, encodeRequest(PING_XID, { kind: "read", read: { kind: "ping" } }));
  }

  /** Closes its connection and not its session. */
  leave(): void {
    const { server } = this;
    const ref = this.#ref;
    this.#forget();
    if (server !== undefined && ref !== undefined) server.disconnect(ref);
  }

  /** Its server has crashed or has closed the connection. */
  dropped(): void {
    const count = this.#asked.length;
    const unanswered = count === 0 ? "" : `; unanswered: ${this.#asked.map(({ text }) => text).join(", ")}`;
    this.#lines.push(`${this.name} is disconnected${unanswered}`);
    this.#forget();
  }

  heard(xid: number, zxid: number, answer: Answer): void {
    if (answer.kind === "event") {
      this.#lines.push(`${this.name} hears of ${answer.path}`);
      return;
    }
    if (answer.kind === "connected") {
      this.#connected(answer);
      return;
    }
    if (xid === PING_XID) return;
    const asked = this.#asked.shift();
    if (asked === undefined || asked.xid !== xid) throw new Violation("C5", `${this.name} is answered out of order`);
    this.#check(asked, zxid, answer);
    this.#seen = Math.max(this.#seen, zxid);
    this.lastAnswer = describe(answer);
    this.#lines.push(`${this.name}: ${asked.text}: ${this.lastAnswer} (${formatZxid(zxid as Zxid)})`);
  }

  #connected(answer: Extract<Answer, { kind: "connected" }>): void {
    if (answer.timeoutMs === 0) {
      this.#session = SESSION_NONE;
      this.#lines.push(`${this.name} learns that its session is over`);
      this.lastAnswer = "expired";
      return;
    }
    const isNew = this.#session === SESSION_NONE;
    this.#session = answer.session;
    this.#password = Buffer.from(answer.password, "hex");
    this.isReady = true;
    this.#lines.push(`${this.name} has ${isNew ? "a session" : "its session"} at s${this.server?.sid}`);
  }

  #check({ request, committed, text }: Asked, zxid: number, answer: Answer): void {
    if (zxid < this.#seen) throw new Violation("C3", `${this.name} has seen ${hex(this.#seen)} and now ${hex(zxid)}`);
    if (request.kind === "write") {
      if (!this.#isCommitted(zxid)) throw new Violation("C1", `${text} is answered and not committed`);
      return;
    }
    if (zxid < this.#synced) {
      throw new Violation("C6", `${this.name} reads at ${hex(zxid)}, behind a sync at ${hex(this.#synced)}`);
    }
    const isOk = answer.kind === "header" && answer.code === 0;
    if (request.kind === "read" && request.read.kind === "sync" && isOk)
      this.#synced = Math.max(this.#synced, committed);
  }

  #forget(): void {
    this.server = undefined;
    this.#ref = undefined;
    this.isReady = false;
    this.#asked = [];
  }
}

function hex(zxid: number): string {
  return formatZxid(zxid as Zxid);
}

function describe(answer: Answer): string {
  switch (answer.kind) {
    case "header":
      return answer.code === 0 ? "ok" : errorName(answer.code);
    case "data":
      return answer.data ?? "null";
    case "path":
      return answer.path;
    case "stat":
      return "ok";
    case "children":
      return answer.children.length === 0 ? "none" : answer.children.join(" ");
    case "multi":
      return answer.parts.map((part) => describePart(part)).join(", ");
    default:
      return answer.kind;
  }
}

function describePart(part: PartAnswer): string {
  if (part.kind === "path") return part.path;
  return part.kind === "error" ? errorName(part.code) : "ok";
}
