/**
 * A ZooKeeper session of a few hundred lines less than a client: it sends what it is told, in order and pipelined, and
 * hands back each reply with its zxid. It hides nothing that a fault test wants to see, retries nothing, and knows
 * exactly which requests were answered when the connection ended.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { FrameReader, framed, JuteReader, JuteWriter } from "../../packages/conformance/src/jute.ts";

export const OPCODE = {
  create: 1,
  delete: 2,
  getData: 4,
  setData: 5,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  multi: 14,
  close: -11,
} as const;
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

/** The connection ended before the answer came: whether the request was carried out is not known. */
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
  /** Gives the connection up when the server says nothing for that long; looked at with each ping. Default: never. */
  readonly silenceMsMax?: number;
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
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  readonly #pings: NodeJS.Timeout;
  #xid = 0;
  #heardAtMs = performance.now();
  #orderFault: string | undefined;

  private constructor(
    socket: Socket,
    frames: FrameReader,
    session: { readonly credentials: Credentials; readonly timeoutMs: number; readonly silenceMsMax: number },
  ) {
    const { credentials, timeoutMs, silenceMsMax } = session;
    this.credentials = credentials;
    this.#socket = socket;
    frames.onFrame = (frame) => this.#receive(frame);
    socket.on("close", () => this.#lose());
    this.#pings = setInterval(() => {
      if (performance.now() - this.#heardAtMs > silenceMsMax) this.#socket.destroy();
      else this.#write(PING_XID, OPCODE.ping, Buffer.alloc(0));
    }, timeoutMs / 3);
  }

  /** What was wrong with the order of the replies; the connection has ended then. */
  get orderFault(): string | undefined {
    return this.#orderFault;
  }

  get isLost(): boolean {
    return this.#socket.destroyed;
  }

  /** @throws SessionRefused where the session to resume is over; Unanswered where the connection ends before an answer */
  static async open(options: OpenOptions): Promise<RawSession> {
    const { port, host = "127.0.0.1", timeoutMs, resume, lastZxidSeen = 0n } = options;
    const socket = connect({ port, host, noDelay: true });
    const frames = new FrameReader();
    const { promise: answer, resolve, reject } = Promise.withResolvers<Buffer>();
    frames.onFrame = resolve;
    socket.on("data", (chunk: Buffer) => frames.push(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => reject(new Unanswered("the connection ended before the session was open")));
    const timer = setTimeout(() => socket.destroy(), options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    const writer = new JuteWriter().int(0).long(lastZxidSeen).int(timeoutMs);
    writer.long(resume?.id ?? 0n).buffer(resume?.password ?? Buffer.alloc(16));
    socket.write(framed(Buffer.concat([writer.bytes(), Buffer.of(0)])));
    const frame = await answer.finally(() => clearTimeout(timer));
    const reader = new JuteReader(frame);
    reader.int();
    const negotiatedMs = reader.int();
    const credentials = { id: reader.long(), password: Buffer.from(reader.buffer() ?? []) };
    if (negotiatedMs <= 0 || credentials.id === 0n) {
      socket.destroy();
      throw new SessionRefused("the server does not know the session any more");
    }
    const { silenceMsMax = Number.POSITIVE_INFINITY } = options;
    return new RawSession(socket, frames, { credentials, timeoutMs: negotiatedMs, silenceMsMax });
  }

  /** Sends one request. Replies come in the order of the requests. */
  async ask(opcode: number, body: Buffer): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const xid = ++this.#xid;
    this.#waiting.push({ xid, resolve, reject });
    this.#write(xid, opcode, body);
    return await promise;
  }

  /** Drops the connection and leaves the session to the server. */
  async abandon(): Promise<void> {
    if (this.#socket.closed) return;
    const closed = once(this.#socket, "close");
    this.#socket.destroy();
    await closed;
  }

  #write(xid: number, opcode: number, body: Buffer): void {
    if (this.#socket.destroyed) this.#lose();
    else this.#socket.write(framed(Buffer.concat([new JuteWriter().int(xid).int(opcode).bytes(), body])));
  }

  #receive(frame: Buffer): void {
    this.#heardAtMs = performance.now();
    const reader = new JuteReader(frame);
    const xid = reader.int();
    if (xid === EVENT_XID || xid === PING_XID) return;
    const waiting = this.#waiting.shift();
    if (waiting?.xid !== xid) {
      this.#orderFault = `reply to ${xid} where one to ${waiting?.xid} was due`;
      this.#socket.destroy();
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
