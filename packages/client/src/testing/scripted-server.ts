import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type ConnectRequest, OpCode, SESSION_NONE, type SessionId, type WatchEventType } from "@zooid/model";
import { Framer, JuteReader, JuteWriter, readConnectRequest, readText, writeConnectResponse } from "@zooid/wire";

/** A request as the server's end sees it. */
export interface SeenRequest {
  readonly xid: number;
  readonly op: number;
  /** The path at the start of the body, if there is one; else empty. */
  readonly path: string;
  readonly body: Buffer;
}

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
/** The session id unless the test sets another. */
export const SESSION_ID: SessionId = 0x77n as SessionId;

/**
 * A server that sends the frames that a test scripts, valid or not. It has no tree; only pings are
 * answered by default, while `answersPings` is set.
 */
export class ScriptedServer implements AsyncDisposable {
  readonly port: number;
  readonly #listener: Server;
  readonly #lines: ScriptedLine[] = [];
  #waiting: ((line: ScriptedLine) => void)[] = [];
  #taken = 0;

  private constructor(listener: Server) {
    this.#listener = listener;
    this.port = (listener.address() as AddressInfo).port;
    listener.on("connection", (socket) => this.#accept(new ScriptedLine(socket)));
  }

  /** On a free port, or on a given one. */
  static async start(host = "127.0.0.1", port = 0): Promise<ScriptedServer> {
    const listener = createServer({ noDelay: true });
    listener.listen(port, host);
    await once(listener, "listening");
    return new ScriptedServer(listener);
  }

  get hosts(): string {
    return `127.0.0.1:${this.port}`;
  }

  get acceptedCount(): number {
    return this.#lines.length;
  }

  get openCount(): number {
    return this.#lines.filter((line) => !line.isClosed).length;
  }

  /** Connections are returned in the order in which they came, each once. */
  async accept(): Promise<ScriptedLine> {
    const line = this.#lines[this.#taken];
    if (line === undefined) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken++;
    return line;
  }

  /** The next connection, after its handshake. */
  async session(greeting: Greeting = {}): Promise<ScriptedLine> {
    const line = await this.accept();
    await line.greet(greeting);
    return line;
  }

  /** Handles every later connection with this function, without returning it. */
  async serve(deal: (line: ScriptedLine) => Promise<void>): Promise<void> {
    for (;;) await deal(await this.accept());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    for (const line of this.#lines) line.reset();
    await closed;
  }

  #accept(line: ScriptedLine): void {
    this.#lines.push(line);
    const taker = this.#waiting.shift();
    if (taker === undefined) return;
    this.#taken++;
    taker(line);
  }
}

export interface Greeting {
  readonly timeoutMs?: number;
  readonly sessionId?: SessionId;
  readonly password?: Uint8Array;
  /** Undefined: an old server, which does not send the byte. */
  readonly readOnly?: boolean | undefined;
}

/** The server's end of one connection. */
export class ScriptedLine {
  readonly socket: Socket;
  readonly #framer = new Framer(FRAME_BYTES_MAX);
  readonly #requests: SeenRequest[] = [];
  #takeRequest: ((request: SeenRequest) => void) | undefined;
  readonly #greeting = Promise.withResolvers<ConnectRequest>();
  #isGreeting = true;
  #handler: ((request: SeenRequest) => Buffer | undefined) | undefined;
  /** Resolves when the connection is closed, by either end. */
  readonly closed: Promise<void>;
  answersPings = true;
  pingCount = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {
      // The following close event is sufficient.
    });
    socket.on("data", (chunk: Buffer) =>
      this.#framer.push(chunk, (bytes, start, end) => {
        this.#frame(bytes, start, end);
        return true;
      }),
    );
  }

  get isClosed(): boolean {
    return this.socket.closed;
  }

  /** The client's first frame. */
  hello(): Promise<ConnectRequest> {
    return this.#greeting.promise;
  }

  /** Answers the client's first frame, once it has arrived. */
  async greet(greeting: Greeting = {}): Promise<ConnectRequest> {
    const hello = await this.hello();
    this.send(greetingFrame(greeting));
    return hello;
  }

  /** The next request other than a ping, each once. */
  async request(): Promise<SeenRequest> {
    const request = this.#requests.shift();
    if (request !== undefined) return request;
    return new Promise((resolve) => {
      this.#takeRequest = resolve;
    });
  }

  async requests(count: number): Promise<SeenRequest[]> {
    const requests: SeenRequest[] = [];
    while (requests.length < count) requests.push(await this.request());
    return requests;
  }

  /** Answers every later request with a function; undefined for no answer. */
  serve(handler: (request: SeenRequest) => Buffer | undefined): void {
    this.#handler = handler;
    for (const request of this.#requests.splice(0)) this.#handle(request);
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Each byte in its own packet, as far as the system's TCP allows. */
  async dribble(bytes: Buffer): Promise<void> {
    for (const byte of bytes) await new Promise<void>((sent) => this.socket.write(Uint8Array.of(byte), () => sent()));
  }

  /** Resets the connection. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #frame(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isGreeting) {
      this.#isGreeting = false;
      const copy = bytes.slice(start, end);
      this.#greeting.resolve(readConnectRequest(copy, 0, copy.length));
      return;
    }
    const reader = new JuteReader();
    reader.reset(Buffer.from(bytes.subarray(start, end)), 0, end - start);
    const xid = reader.int();
    const op = reader.int();
    if (op === OpCode.PING) {
      this.pingCount++;
      if (this.answersPings) this.send(PING_ANSWER);
      return;
    }
    const body = reader.bytes.subarray(reader.at);
    this.#handle({ xid, op, path: WITHOUT_PATH.has(op) ? "" : readText(reader), body });
  }

  #handle(request: SeenRequest): void {
    if (this.#handler !== undefined) {
      const answer = this.#handler(request);
      if (answer !== undefined) this.send(answer);
      return;
    }
    const take = this.#takeRequest;
    this.#takeRequest = undefined;
    if (take === undefined) this.#requests.push(request);
    else take(request);
  }
}

const WITHOUT_PATH: ReadonlySet<number> = new Set<number>([
  OpCode.CLOSE_SESSION,
  OpCode.SET_WATCHES,
  OpCode.SET_WATCHES2,
  OpCode.MULTI,
  OpCode.AUTH,
  OpCode.WHO_AM_I,
]);

/** Any content in a frame with a correct length. */
export function frame(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  const at = writer.beginFrame();
  write(writer);
  writer.endFrame(at);
  return Buffer.from(writer.bytes.subarray(0, writer.end));
}

export function greetingFrame(greeting: Greeting = {}): Buffer {
  const { timeoutMs = 30_000, sessionId = SESSION_ID, password = new Uint8Array(16).fill(7) } = greeting;
  const writer = new JuteWriter();
  writeConnectResponse(writer, {
    timeoutMs,
    sessionId,
    password: { bytes: password, start: 0, end: password.length },
    readOnly: "readOnly" in greeting ? greeting.readOnly : false,
  });
  return Buffer.from(writer.bytes.subarray(0, writer.end));
}

/** The answer of a server that does not know the session to resume. */
export const REFUSED: Greeting = { timeoutMs: 0, sessionId: SESSION_NONE, password: new Uint8Array(16) };

export interface ReplyHeader {
  readonly code?: number;
  readonly zxid?: number;
}

/** An answer: the header, and any body. */
export function answer(
  { xid }: { readonly xid: number },
  { code = 0, zxid = 1 }: ReplyHeader = {},
  body?: (writer: JuteWriter) => void,
): Buffer {
  return frame((writer) => {
    writer.int(xid);
    writer.zxid(zxid);
    writer.int(code);
    body?.(writer);
  });
}

/** The answer to `get`. */
export function dataAnswer(request: { readonly xid: number }, text: string, version = 0): Buffer {
  const data = Buffer.from(text);
  return answer(request, {}, (writer) => {
    writer.range(data, 0, data.length);
    writeStat(writer, { dataLength: data.length, version });
  });
}

/** The answer to `exists` and `set`. */
export function statAnswer(request: { readonly xid: number }, version = 0): Buffer {
  return answer(request, {}, (writer) => writeStat(writer, { dataLength: 0, version }));
}

/** The answer to `create`. */
export function createAnswer(
  request: { readonly xid: number; readonly path: string },
  path: string = request.path,
): Buffer {
  return answer(request, {}, (writer) => {
    writer.text(path);
    writeStat(writer, { dataLength: 0 });
  });
}

/** The answer to `children`. */
export function childrenAnswer(request: { readonly xid: number }, names: readonly string[] = []): Buffer {
  return answer(request, {}, (writer) => {
    writer.int(names.length);
    for (const name of names) writer.text(name);
    writeStat(writer, { dataLength: 0 });
  });
}

/** A successful answer to any request; a node's data are its path. */
export function honestAnswer(request: SeenRequest): Buffer {
  switch (request.op) {
    case OpCode.GET_DATA:
      return dataAnswer(request, request.path);
    case OpCode.EXISTS:
    case OpCode.SET_DATA:
      return statAnswer(request);
    case OpCode.GET_CHILDREN2:
      return childrenAnswer(request);
    case OpCode.CREATE2:
      return createAnswer(request);
    default:
      return answer(request);
  }
}

export function event(type: WatchEventType | number, path: string): Buffer {
  return answer({ xid: -1 }, { zxid: 1 }, (writer) => {
    writer.int(type);
    writer.int(3);
    writer.text(path);
  });
}

export const PING_ANSWER: Buffer = answer({ xid: -2 });

/** A node that was created at zxid 1, with nothing changed but its data. */
function writeStat(
  writer: JuteWriter,
  { dataLength, version = 0 }: { readonly dataLength: number; readonly version?: number },
): void {
  for (const zxid of [1, 1, 1000, 1000]) writer.zxid(zxid);
  for (const each of [version, 0, 0]) writer.int(each);
  writer.long(0, 0);
  for (const count of [dataLength, 0]) writer.int(count);
  writer.zxid(1);
}
