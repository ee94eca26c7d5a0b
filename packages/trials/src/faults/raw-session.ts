/**
 * A session for fault tests: it sends requests in order and pipelined, and returns each reply with
 * its zxid. It hides nothing, retries nothing, and knows exactly which requests were answered when
 * the connection ended.
 */
import { JuteReader, JuteWriter } from "@zooid/conformance/internal/jute";
import { OP } from "@zooid/conformance/internal/wire";
import { RawConnection } from "@zooid/wire/testing/raw-connection";

export const NO_NODE = -101;

const CONNECT_TIMEOUT_MS = 10_000;
const PING_XID = -2;
const EVENT_XID = -1;

export interface Credentials {
  readonly id: bigint;
  readonly password: Buffer;
}

export interface Reply {
  readonly zxid: bigint;
  readonly error: number;
  readonly body: Buffer;
  /** When it arrived, by the machine's monotonic clock in nanoseconds. */
  readonly arrivedAt: bigint;
}

/**
 * The connection ended before the answer came: whether the request was carried out is not known.
 */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

/** The server says that the session is over. */
export class SessionRefused extends Error {
  override readonly name = "SessionRefused";
}

export interface OpenOptions {
  readonly port: number;
  /** Default: loopback. */
  readonly host?: string;
  /** The session's, to ask for. */
  readonly timeoutMs: number;
  /** For the connection and the answer to its first frame. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /**
   * Gives the connection up when the server says nothing for that long; looked at with each ping.
   * Default: never.
   */
  readonly silenceMsMax?: number;
  /** Whether a server without a quorum will do. Default: no. */
  readonly readOnly?: boolean;
  readonly resume?: Credentials;
  readonly lastZxidSeen?: bigint;
}

interface Waiting {
  readonly xid: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class RawSession {
  readonly credentials: Credentials;
  readonly #connection: RawConnection;
  readonly #waiting: Waiting[] = [];
  readonly #pings: NodeJS.Timeout;
  #xid = 0;
  #heardAtMs = performance.now();
  #orderFault: string | undefined;

  private constructor(
    connection: RawConnection,
    session: { readonly credentials: Credentials; readonly timeoutMs: number; readonly silenceMsMax: number },
  ) {
    const { credentials, timeoutMs, silenceMsMax } = session;
    this.credentials = credentials;
    this.#connection = connection;
    this.#pings = setInterval(() => {
      if (performance.now() - this.#heardAtMs > silenceMsMax) connection.socket.destroy();
      else this.#write(PING_XID, OP.ping, Buffer.alloc(0));
    }, timeoutMs / 3);
    void this.#read();
  }

  /** The fault in the order of the replies; the connection has ended then. */
  get orderFault(): string | undefined {
    return this.#orderFault;
  }

  get isLost(): boolean {
    return this.#connection.socket.destroyed;
  }

  /**
   * @throws SessionRefused where the session to resume is over; Unanswered where the connection
   *   ends before an answer
   */
  static async open(options: OpenOptions): Promise<RawSession> {
    const { port, host = "127.0.0.1", timeoutMs, resume, lastZxidSeen = 0n } = options;
    const connection = RawConnection.to({ port, host, deadlineMs: Number.POSITIVE_INFINITY });
    const { socket } = connection;
    const timer = setTimeout(() => socket.destroy(), options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    const writer = new JuteWriter().int(0).long(lastZxidSeen).int(timeoutMs);
    writer
      .long(resume?.id ?? 0n)
      .buffer(resume?.password ?? Buffer.alloc(16))
      .bool(options.readOnly ?? false);
    connection.sendFrame(writer.bytes());
    const frame = await connection.frameOrEnd().finally(() => clearTimeout(timer));
    if (frame === undefined) throw new Unanswered("the connection ended before the session was open");
    const reader = new JuteReader(frame);
    reader.int();
    const negotiatedMs = reader.int();
    const credentials = { id: reader.long(), password: Buffer.from(reader.buffer() ?? []) };
    if (negotiatedMs <= 0 || credentials.id === 0n) {
      socket.destroy();
      throw new SessionRefused("the server does not know the session any more");
    }
    const { silenceMsMax = Number.POSITIVE_INFINITY } = options;
    return new RawSession(connection, { credentials, timeoutMs: negotiatedMs, silenceMsMax });
  }

  /** Sends one request. Replies come in the order of the requests. */
  async ask(opcode: number, body: Buffer = Buffer.alloc(0)): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const xid = ++this.#xid;
    this.#waiting.push({ xid, resolve, reject });
    this.#write(xid, opcode, body);
    return await promise;
  }

  /** Closes the session, then the connection. */
  async end(): Promise<void> {
    await this.ask(OP.close);
    await this.abandon();
  }

  /** Drops the connection and leaves the session to the server. */
  async abandon(): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  #write(xid: number, opcode: number, body: Buffer): void {
    if (this.#connection.socket.destroyed) this.#lose();
    else this.#connection.sendFrame(new JuteWriter().int(xid).int(opcode).bytes(), body);
  }

  async #read(): Promise<void> {
    for (;;) {
      const frame = await this.#connection.frameOrEnd();
      if (frame === undefined) return this.#lose();
      this.#receive(frame);
    }
  }

  #receive(frame: Buffer): void {
    this.#heardAtMs = performance.now();
    const reader = new JuteReader(frame);
    const xid = reader.int();
    if (xid === EVENT_XID || xid === PING_XID) return;
    const waiting = this.#waiting.shift();
    if (waiting?.xid !== xid) {
      this.#orderFault = `reply to ${xid} where one to ${waiting?.xid} was due`;
      this.#connection.socket.destroy();
      waiting?.reject(new Unanswered(this.#orderFault));
      return;
    }
    waiting.resolve({
      zxid: reader.long(),
      error: reader.int(),
      body: reader.rest(),
      arrivedAt: process.hrtime.bigint(),
    });
  }

  #lose(): void {
    clearInterval(this.#pings);
    for (const { reject } of this.#waiting.splice(0)) reject(new Unanswered("the connection ended before the reply"));
  }
}

/** A node with the parts of its Stat that faults show in. */
export interface AnsweredNode {
  readonly value: string;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly version: number;
  /** Session id, or 0 for a persistent node. */
  readonly owner: bigint;
}

/** The answer to getData. */
export function nodeOf(body: Buffer): AnsweredNode {
  const reader = new JuteReader(body);
  const value = reader.string();
  const [czxid, mzxid] = [reader.long(), reader.long()];
  // Two times.
  reader.skip(2 * 8);
  const version = reader.int();
  // The versions of the children and of the access list.
  reader.skip(2 * 4);
  return { value, czxid, mzxid, version, owner: reader.long() };
}
