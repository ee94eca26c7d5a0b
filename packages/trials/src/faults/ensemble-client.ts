/**
 * A client of an ensemble that keeps its session over lost connections, and records all requests
 * and answers.
 */
import { setTimeout as delay } from "node:timers/promises";
import { JuteReader } from "@zooid/conformance/internal/jute";
import type { Random } from "@zooid/conformance/internal/random";
import { create, OP, onPath, read, setData } from "@zooid/conformance/internal/wire";
import type { Read, Write } from "./ensemble-history.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";
import { type Credentials, nodeOf, RawSession, type Reply, SessionRefused, Unanswered } from "./raw-session.ts";

const EPHEMERAL = 1;
const SEQUENTIAL = 2;
const SESSION_MOVED = -118;
/** For want of room on the disks, as operators and clients know it: to be tried again. */
const OPERATION_TIMEOUT = -7;
const REFUSED_RETRY_MS = 20;
const RETRY_MS = 10;
/** Short, so that a server that is paused or cut off costs a client little. */
const CONNECT_TIMEOUT_MS = 250;
/** Where a Stat's version begins: behind two zxids and two times. */
const STAT_VERSION_AT = 2 * 8;

/** The records of all clients of a run, in the order of the answers. */
export class Recorder {
  writes: Write[] = [];
  reads: Read[] = [];
  /** Faults that are seen without a history. */
  faults: string[] = [];
  doneCount = 0;
  /** Writes that were refused since a disk has no room; a fault unless a disk was filled. */
  refusedForRoomCount = 0;
  mayLackRoom = false;
}

export interface ClientOptions {
  readonly name: string;
  readonly servers: readonly EnsembleServer[];
  readonly recorder: Recorder;
  readonly sessionTimeoutMs: number;
  readonly random: Random;
}

interface Connection {
  readonly session: RawSession;
  readonly server: EnsembleServer;
}

export class EnsembleClient {
  readonly name: string;
  readonly #options: ClientOptions;
  #credentials: Credentials | undefined;
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #lastZxid = 0n;
  #wanted: EnsembleServer | undefined;
  #count = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** 0n before there is one. */
  get sessionId(): bigint {
    return this.#credentials?.id ?? 0n;
  }

  /** The server that it is connected to. */
  get sid(): number | undefined {
    return this.#connection?.session.isLost === false ? this.#connection.server.sid : undefined;
  }

  /** Connects, trying servers in no order until one takes it. */
  connected(): Promise<Connection> {
    if (this.#connection !== undefined && !this.#connection.session.isLost) return Promise.resolve(this.#connection);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Continues at another server. Requests in flight lose their answers. */
  async moveTo(server: EnsembleServer): Promise<void> {
    if (this.sid === server.sid) return;
    this.#wanted = server;
    await this.#connection?.session.abandon();
    await this.connected();
  }

  /** Sets a node to a value of its own. @returns false where the connection was lost */
  async set(path: string): Promise<boolean> {
    const value = this.#newValue();
    return await this.#write({ kind: "set", path, value }, OP.setData, setData(path, value), (write, reader) => {
      reader.skip(8);
      const mzxid = reader.long();
      reader.skip(STAT_VERSION_AT);
      write.version = reader.int();
      if (mzxid !== write.zxid) this.#fault(`a set was answered with mzxid ${mzxid} at zxid ${write.zxid}`);
    });
  }

  /** Makes a sequential node. @param parent with a slash at its end */
  async append(parent: string): Promise<boolean> {
    const value = this.#newValue();
    const body = create(`${parent}n-`, { data: value, flags: SEQUENTIAL });
    return await this.#write({ kind: "create", path: parent, value }, OP.create, body, (write, reader) => {
      write.createdPath = reader.string();
    });
  }

  async read(path: string, { sync }: { readonly sync: boolean }): Promise<boolean> {
    const { session, server } = await this.connected();
    const syncSentAt = sync ? process.hrtime.bigint() : undefined;
    const synced = sync ? this.#ask(session, OP.sync, onPath(path)) : undefined;
    const sentAt = process.hrtime.bigint();
    const asked = this.#ask(session, OP.getData, read(path));
    const [first, second] = await Promise.allSettled([synced, asked]);
    if (first.status === "rejected" || second.status === "rejected") return false;
    if (first.value !== undefined && !this.#isAnswered(session, first.value, "sync")) return false;
    const { error, body, zxid, arrivedAt } = second.value;
    if (!this.#isAnswered(session, second.value, "getData") || error !== 0) return false;
    const { value, mzxid, version } = nodeOf(body);
    this.#options.recorder.reads.push({
      client: this.name,
      sid: server.sid,
      sentAt,
      answeredAt: arrivedAt,
      zxid,
      path,
      syncSentAt,
      value,
      mzxid,
      version,
    });
    return true;
  }

  /** Makes a node that is not part of the history; one that is there already will do. */
  async make(
    path: string,
    value: string,
    { isEphemeral = false }: { readonly isEphemeral?: boolean } = {},
  ): Promise<void> {
    const nodeExists = -110;
    for (;;) {
      const { session } = await this.connected();
      const body = create(path, { data: value, flags: isEphemeral ? EPHEMERAL : 0 });
      const reply = await this.#ask(session, OP.create, body).catch(() => undefined);
      if (reply !== undefined && (reply.error === 0 || reply.error === nodeExists)) return;
      if (reply !== undefined) throw new Error(`creating ${path} failed with ${reply.error}`);
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    await connection.session.ask(OP.close).catch(() => undefined);
    await connection.session.abandon();
  }

  async #write(
    { kind, path, value }: Pick<Write, "kind" | "path" | "value">,
    opcode: number,
    body: Buffer,
    readAnswer: (write: Write, reader: JuteReader) => void,
  ): Promise<boolean> {
    const { session, server } = await this.connected();
    const sentAt = process.hrtime.bigint();
    const write: Write = { kind, client: this.name, sid: server.sid, path, value, sentAt, outcome: "unknown" };
    const { recorder } = this.#options;
    recorder.writes.push(write);
    let reply: Reply;
    try {
      reply = await this.#ask(session, opcode, body);
    } catch (error) {
      if (error instanceof Unanswered) return false;
      throw error;
    }
    write.answeredAt = reply.arrivedAt;
    write.zxid = reply.zxid;
    write.outcome = reply.error === 0 ? "done" : "refused";
    if (reply.error === OPERATION_TIMEOUT && recorder.mayLackRoom) {
      recorder.refusedForRoomCount++;
      await delay(REFUSED_RETRY_MS);
      return true;
    }
    if (!this.#isAnswered(session, reply, kind)) return false;
    if (reply.error === 0) {
      recorder.doneCount++;
      readAnswer(write, new JuteReader(reply.body));
    }
    return true;
  }

  /** Asks, and sees that zxids never go back within the session. */
  async #ask(session: RawSession, opcode: number, body: Buffer): Promise<Reply> {
    try {
      const reply = await session.ask(opcode, body);
      if (reply.zxid < this.#lastZxid) this.#fault(`a reply of zxid ${reply.zxid} came after one of ${this.#lastZxid}`);
      else this.#lastZxid = reply.zxid;
      return reply;
    } catch (error) {
      if (session.orderFault !== undefined) this.#fault(session.orderFault);
      throw error;
    }
  }

  /** A session that has moved on asks again elsewhere; no other refusal has a reason here. */
  #isAnswered(session: RawSession, { error }: Reply, what: string): boolean {
    if (error === 0) return true;
    if (error !== SESSION_MOVED) this.#fault(`${what} was refused with ${error}`);
    void session.abandon();
    return false;
  }

  #fault(text: string): void {
    this.#options.recorder.faults.push(`${this.name}: ${text}`);
  }

  #newValue(): string {
    return `${this.name}.${this.#count++}`.padEnd(40, "-");
  }

  async #connect(): Promise<Connection> {
    const { servers, sessionTimeoutMs, random } = this.#options;
    for (;;) {
      const server = this.#wanted ?? random.pick(servers);
      this.#wanted = undefined;
      const session = await this.#open(server, sessionTimeoutMs);
      if (session !== undefined) {
        this.#credentials = session.credentials;
        this.#connection = { session, server };
        return this.#connection;
      }
      await delay(RETRY_MS);
    }
  }

  async #open(server: EnsembleServer, timeoutMs: number): Promise<RawSession | undefined> {
    const resume = this.#credentials;
    const { host, port } = server;
    try {
      return await RawSession.open({
        host,
        port,
        timeoutMs,
        lastZxidSeen: this.#lastZxid,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        silenceMsMax: (timeoutMs * 2) / 3,
        ...(resume === undefined ? {} : { resume }),
      });
    } catch (error) {
      if (error instanceof SessionRefused) {
        this.#fault(`server ${server.sid} says that session ${resume?.id.toString(16)} is over`);
        this.#credentials = undefined;
      } else if (!(error instanceof Unanswered)) throw error;
      return undefined;
    }
  }
}
