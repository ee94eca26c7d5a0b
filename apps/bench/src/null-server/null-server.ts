import { createServer, type Server, type Socket } from "node:net";
import {
  isSequentialMode,
  newRequest,
  OpCode,
  type Request,
  SESSION_NONE,
  type SessionId,
  STAT_BYTES,
  StatOffset,
  sequenceSuffix,
  sliceText,
} from "@zooid/model";
import { Framer, JuteWriter, RequestReader, readConnectRequest, writeConnectResponse } from "@zooid/wire";
import { FrameOffset, readInt } from "../connections/load-connection.ts";
import { putInt } from "../connections/request-template.ts";

export interface NullServerOptions {
  /** 0: the system chooses. */
  readonly port: number;
  /** Bytes of every node's data. */
  readonly payloadBytes: number;
  /** Number of children of every node. */
  readonly children: number;
  /** The server freezes for a while, at a time after the first request that is not a connect. */
  readonly freeze: { readonly atMs: number; readonly forMs: number } | undefined;
}

const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const PASSWORD_BYTES = 16;
const PING_XID = -2;
const TIMEOUT_MS_MAX = 600_000;
const OUT_BYTES = 1024 * 1024;
/** A client that does not read is not read until it does. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const ZXID = 1;
/** Offset of a request's body: behind xid and opcode. */
const BODY = 8;
/** Header of a part of a transaction: opcode, whether it is the end, code. */
const PART_HEADER_BYTES = 9;
const MULTI_END = partHeader(-1, 1, -1);

function partHeader(op: number, isDone: number, code: number): Buffer {
  const bytes = Buffer.alloc(PART_HEADER_BYTES, isDone);
  putInt(bytes, 0, op);
  putInt(bytes, 5, code);
  return bytes;
}

/**
 * Answers every request at once with success, and stores nothing: a generator's throughput against
 * it is the generator's own limit. Every node has the same data, the same Stat and the same number
 * of children.
 */
export class NullServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #freeze: NullServerOptions["freeze"];
  /** Complete answers, by opcode, except for the xid. */
  readonly #answers: readonly (Buffer | undefined)[];
  readonly #list: readonly string[];
  readonly #data: Uint8Array;
  readonly #stat: Buffer;
  readonly #reader = new RequestReader();
  readonly #request: Request = newRequest();
  readonly #part: Request = newRequest();
  readonly #writer = new JuteWriter();
  /** A set's result in a transaction: its header and the Stat. */
  readonly #setResult: Buffer;
  #out: Buffer = Buffer.allocUnsafeSlow(OUT_BYTES);
  #end = 0;
  #sessions = 0;
  #sequence = 0;
  #isStarted = false;
  #freezeTimer: NodeJS.Timeout | undefined;

  private constructor({ payloadBytes, children, freeze }: NullServerOptions) {
    this.#freeze = freeze;
    this.#data = new Uint8Array(payloadBytes);
    this.#stat = Buffer.alloc(STAT_BYTES);
    putInt(this.#stat, StatOffset.dataLength, payloadBytes);
    putInt(this.#stat, StatOffset.numChildren, children);
    this.#setResult = Buffer.concat([partHeader(OpCode.SET_DATA, 0, 0), this.#stat]);
    this.#list = Array.from({ length: children }, (_, i) => `n-${String(i).padStart(7, "0")}`);
    this.#answers = this.#prebuild();
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  static async start(options: NullServerOptions): Promise<NullServer> {
    const server = new NullServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(options.port, "127.0.0.1", 4096, resolve);
    });
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === "object" ? address.port : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#freezeTimer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const framer = new Framer(FRAME_BYTES_MAX);
    let isNew = true;
    let isClosing = false;
    const take = (bytes: Uint8Array, start: number, end: number): boolean => {
      if (isNew) this.#connect(bytes, start, end);
      else isClosing = this.#answer(socket, bytes, start, end) || isClosing;
      isNew = false;
      return true;
    };
    socket.on("data", (chunk) => {
      if (isNew && this.#isWord(socket, chunk)) return;
      framer.push(chunk, take);
      this.#flush(socket);
      if (isClosing) socket.end();
      if (socket.writableLength > WAITING_BYTES_MAX) socket.pause();
    });
    socket.on("drain", () => socket.resume());
    socket.on("error", () => {
      // A load that is over disconnects without notice.
    });
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #isWord(socket: Socket, chunk: Buffer): boolean {
    if (chunk.toString("latin1", 0, 4) !== "srvr") return false;
    socket.end("Zookeeper version: null\nMode: standalone\n");
    return true;
  }

  #connect(bytes: Uint8Array, start: number, end: number): void {
    const { sessionId, timeoutMs, password, readOnly } = readConnectRequest(bytes, start, end);
    const writer = new JuteWriter();
    writeConnectResponse(writer, {
      timeoutMs: Math.min(TIMEOUT_MS_MAX, timeoutMs),
      sessionId: sessionId === SESSION_NONE ? (BigInt(++this.#sessions) as SessionId) : sessionId,
      password:
        sessionId === SESSION_NONE
          ? { bytes: new Uint8Array(PASSWORD_BYTES), start: 0, end: PASSWORD_BYTES }
          : password,
      readOnly: readOnly === undefined ? undefined : false,
    });
    this.#put(writer.bytes, 0, writer.end);
  }

  /** @returns whether the session ends */
  #answer(socket: Socket, bytes: Uint8Array, start: number, end: number): boolean {
    const op = readInt(bytes, start + 4);
    const answer = this.#answers[op];
    if (answer !== undefined) {
      if (this.#end + answer.length > this.#out.length) this.#flush(socket);
      const at = this.#put(answer, 0, answer.length);
      const xid = readInt(bytes, start);
      putInt(this.#out, at + FrameOffset.xid, xid);
      if (!this.#isStarted && xid !== PING_XID) this.#begin();
      return false;
    }
    if (!this.#isStarted) this.#begin();
    const writer = this.#writer;
    writer.end = 0;
    const isPlain = op === OpCode.CREATE && !isSequentialMode(readInt(bytes, end - 4));
    if (isPlain) this.#echoPath(bytes, start);
    else if (op !== OpCode.MULTI || !this.#composeSets(bytes, start)) this.#compose(bytes, start, end);
    if (this.#end + writer.end > this.#out.length) this.#flush(socket);
    this.#put(writer.bytes, 0, writer.end);
    return op === OpCode.CLOSE_SESSION;
  }

  #head(xid: number): number {
    const frame = this.#writer.beginFrame();
    this.#writer.int(xid);
    this.#writer.zxid(ZXID);
    this.#writer.int(0);
    return frame;
  }

  /** A create's answer without decoding the rest of it: this has to be faster than any server. */
  #echoPath(bytes: Uint8Array, start: number): void {
    const frame = this.#head(readInt(bytes, start));
    this.#writer.raw(bytes, start + BODY, start + BODY + 4 + readInt(bytes, start + BODY));
    this.#writer.endFrame(frame);
  }

  /**
   * A transaction of sets alone, for the same reason.
   *
   * @returns false for any other; then nothing was written
   */
  #composeSets(bytes: Uint8Array, start: number): boolean {
    const writer = this.#writer;
    const frame = this.#head(readInt(bytes, start));
    let at = start + BODY;
    while (readInt(bytes, at) === OpCode.SET_DATA) {
      writer.raw(this.#setResult, 0, this.#setResult.length);
      const data = at + PART_HEADER_BYTES + 4 + readInt(bytes, at + PART_HEADER_BYTES);
      at = data + 4 + Math.max(0, readInt(bytes, data)) + 4;
    }
    writer.raw(MULTI_END, 0, MULTI_END.length);
    writer.endFrame(frame);
    if (readInt(bytes, at) === -1) return true;
    writer.end = 0;
    return false;
  }

  /** Answers that repeat parts of their request. */
  #compose(bytes: Uint8Array, start: number, end: number): void {
    const request = this.#request;
    const writer = this.#writer;
    this.#reader.open(bytes, start, end, request);
    this.#reader.body(request);
    const frame = this.#head(request.xid);
    if (request.op === OpCode.MULTI) {
      this.#reader.rewindParts();
      while (this.#reader.nextPart(this.#part)) this.#composePart(writer, this.#part);
      writer.raw(MULTI_END, 0, MULTI_END.length);
    } else {
      this.#composeBody(writer, request);
    }
    writer.endFrame(frame);
  }

  #composePart(writer: JuteWriter, part: Request): void {
    const isLong = part.op === OpCode.CREATE_CONTAINER || part.op === OpCode.CREATE_TTL;
    writer.int(isLong ? OpCode.CREATE2 : part.op);
    writer.bool(false);
    writer.int(0);
    this.#composeBody(writer, part);
  }

  #composeBody(writer: JuteWriter, request: Request): void {
    switch (request.op) {
      case OpCode.CREATE:
        writer.text(this.#createdPath(request));
        return;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        writer.text(this.#createdPath(request));
        writer.raw(this.#stat, 0, STAT_BYTES);
        return;
      case OpCode.SET_DATA:
        writer.raw(this.#stat, 0, STAT_BYTES);
        return;
      case OpCode.SYNC:
        writer.slice(request.path);
        return;
      case OpCode.GET_ALL_CHILDREN_NUMBER:
      case OpCode.GET_EPHEMERALS:
      case OpCode.ADD_WATCH:
      case OpCode.WHO_AM_I:
      case OpCode.GET_ACL:
        // An empty list, no children, no error: all are a zero. An access list is followed by the
        // Stat.
        writer.int(0);
        if (request.op === OpCode.GET_ACL) writer.raw(this.#stat, 0, STAT_BYTES);
        return;
      default:
        return;
    }
  }

  #createdPath({ path, flags }: Request): string {
    return isSequentialMode(flags) ? `${sliceText(path)}${sequenceSuffix(this.#sequence++)}` : sliceText(path);
  }

  #prebuild(): readonly (Buffer | undefined)[] {
    const answers: (Buffer | undefined)[] = [];
    const names = (writer: JuteWriter): void => {
      writer.int(this.#list.length);
      for (const name of this.#list) writer.text(name);
    };
    const stat = (writer: JuteWriter): void => writer.raw(this.#stat, 0, STAT_BYTES);
    const prebuild = (op: number, ...parts: readonly ((writer: JuteWriter) => void)[]): void => {
      const writer = new JuteWriter();
      const frame = writer.beginFrame();
      writer.int(0);
      writer.zxid(ZXID);
      writer.int(0);
      for (const part of parts) part(writer);
      writer.endFrame(frame);
      answers[op] = Buffer.from(writer.bytes.subarray(0, writer.end));
    };
    prebuild(OpCode.PING);
    prebuild(OpCode.DELETE);
    prebuild(OpCode.EXISTS, stat);
    prebuild(OpCode.SET_DATA, stat);
    prebuild(OpCode.GET_DATA, (writer) => writer.range(this.#data, 0, this.#data.length), stat);
    prebuild(OpCode.GET_CHILDREN, names);
    prebuild(OpCode.GET_CHILDREN2, names, stat);
    return answers;
  }

  #begin(): void {
    this.#isStarted = true;
    const freeze = this.#freeze;
    if (freeze === undefined) return;
    this.#freezeTimer = setTimeout(() => {
      // Blocks the whole thread, like a garbage collection or a stopped machine.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, freeze.forMs);
    }, freeze.atMs);
  }

  /** @returns the offset of the bytes */
  #put(bytes: Buffer, start: number, end: number): number {
    const at = this.#end;
    if (at + end - start > this.#out.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#out.length * 2, at + end - start));
      this.#out.copy(grown, 0, 0, at);
      this.#out = grown;
    }
    bytes.copy(this.#out, at, start, end);
    this.#end = at + end - start;
    return at;
  }

  #flush(socket: Socket): void {
    if (this.#end === 0) return;
    socket.write(this.#out.subarray(0, this.#end));
    this.#end = 0;
    // Bytes that the system did not take at once are still there.
    if (socket.writableLength > 0) this.#out = Buffer.allocUnsafeSlow(OUT_BYTES);
  }
}
