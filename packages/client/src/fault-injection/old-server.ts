import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { checkFit, ErrorCode, OpCode, type Shape, shape, wordRule, ZXID_NONE } from "@zooid/model";
import { Framer, JuteReader, JuteWriter, readText } from "@zooid/wire";
import { checkTarget, type RelayTarget } from "./relay.ts";

/** Requests that servers before 3.6 do not know, among those of clients. */
const SINCE_3_6: readonly number[] = [
  OpCode.MULTI_READ,
  OpCode.GET_EPHEMERALS,
  OpCode.GET_ALL_CHILDREN_NUMBER,
  OpCode.SET_WATCHES2,
  OpCode.ADD_WATCH,
  OpCode.WHO_AM_I,
];

/** Reactions of a server to a request that it does not know. */
export type UnknownAnswer =
  /** Answers with an error and closes the connection, as Apache's servers do. */
  | "refuse-and-hang-up"
  /** Answers with an error, and keeps the connection. */
  | "refuse"
  /** Closes the connection without an answer. */
  | "hang-up";

/** Requests that servers before 3.5 do not know either. */
const SINCE_3_5: readonly number[] = [
  OpCode.CREATE2,
  OpCode.RECONFIG,
  OpCode.CHECK_WATCHES,
  OpCode.REMOVE_WATCHES,
  OpCode.CREATE_CONTAINER,
  OpCode.CREATE_TTL,
];

/** A node that exists from 3.5 on. */
const CONFIG_PATH = "/zookeeper/config";
const FRAME_BYTES_MAX = 64 * 1024 * 1024;

/** Options of an old server. */
export interface OldServerOptions {
  /** Default 3.5. */
  readonly version?: "3.4" | "3.5";
  /** Default `refuse-and-hang-up`. */
  readonly unknown?: UnknownAnswer;
}

const OPTIONS: Shape<OldServerOptions> = shape<OldServerOptions>({
  version: wordRule("3.4", "3.5"),
  unknown: wordRule("refuse-and-hang-up", "refuse", "hang-up"),
});

/** An answer that replaces the real server's. */
interface ReplacedAnswer {
  /** Undefined: no answer. */
  readonly errno: number | undefined;
  readonly hangsUp: boolean;
}

const REFUSALS: Readonly<Record<UnknownAnswer, ReplacedAnswer>> = {
  "refuse-and-hang-up": { errno: ErrorCode.UNIMPLEMENTED, hangsUp: true },
  refuse: { errno: ErrorCode.UNIMPLEMENTED, hangsUp: false },
  "hang-up": { errno: undefined, hangsUp: true },
};

/**
 * Makes a server look older: a proxy that does not know the requests that ZooKeeper 3.6 introduced,
 * such as persistent watches, and as 3.4 those of 3.5. Clients connect to its `port` on 127.0.0.1.
 */
export class OldServer implements AsyncDisposable {
  /** Its reaction to unknown requests. */
  unknown: UnknownAnswer;
  readonly #listener: Server;
  readonly #target: RelayTarget;
  readonly #version: "3.4" | "3.5";
  readonly #links = new Set<Link>();
  readonly #unknownCodes: number[] = [];
  #acceptedCount = 0;

  private constructor(
    listener: Server,
    target: RelayTarget,
    { version = "3.5", unknown = "refuse-and-hang-up" }: OldServerOptions,
  ) {
    this.#listener = listener;
    this.#target = target;
    this.#version = version;
    this.unknown = unknown;
    listener.on("connection", (client) => this.#accept(client));
  }

  /** On a free port. @param target read for each connection */
  static async start(target: RelayTarget, options: OldServerOptions = {}): Promise<OldServer> {
    checkTarget("OldServer", target);
    checkFit("OldServer", options, OPTIONS);
    const listener = createServer({ noDelay: true });
    const server = new OldServer(listener, target, options);
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    return server;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Number of connections ever accepted. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /** The unknown requests, in order. */
  get unknownCodes(): readonly number[] {
    return this.#unknownCodes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    for (const link of this.#links) link.end();
    await closed;
  }

  #accept(client: Socket): void {
    this.#acceptedCount++;
    const { host = "127.0.0.1", port } = this.#target;
    const link = new Link(client, connect({ host, port, noDelay: true }), (code, body) => this.#judge(code, body));
    this.#links.add(link);
    client.once("close", () => this.#links.delete(link));
  }

  #judge(code: number, body: JuteReader): ReplacedAnswer | undefined {
    if (SINCE_3_6.includes(code) || (this.#version === "3.4" && SINCE_3_5.includes(code))) {
      this.#unknownCodes.push(code);
      return REFUSALS[this.unknown];
    }
    const isConfig = this.#version === "3.4" && code === OpCode.EXISTS && readText(body) === CONFIG_PATH;
    return isConfig ? { errno: ErrorCode.NO_NODE, hangsUp: false } : undefined;
  }
}

/**
 * One connection: every frame is inspected, in both directions, so that replaced answers keep the
 * order that the client expects.
 */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #judge: (code: number, body: JuteReader) => ReplacedAnswer | undefined;
  /**
   * Requests in flight to the server, and those among them that were not forwarded, in the order of
   * their answers.
   */
  readonly #due: { readonly xid: number; readonly refusal: ReplacedAnswer | undefined }[] = [];
  #isGreeting = true;
  #isEnding = false;

  constructor(client: Socket, server: Socket, judge: (code: number, body: JuteReader) => ReplacedAnswer | undefined) {
    this.#client = client;
    this.#server = server;
    this.#judge = judge;
    const requests = new Framer(FRAME_BYTES_MAX);
    const answers = new Framer(FRAME_BYTES_MAX);
    client.on("data", (chunk: Buffer) =>
      requests.push(chunk, (bytes, start, end) => {
        this.#request(bytes, start, end);
        return !this.#isEnding;
      }),
    );
    let isGreeted = false;
    server.on("data", (chunk: Buffer) =>
      answers.push(chunk, (bytes, start, end) => {
        if (isGreeted) this.#answer(bytes, start, end);
        else client.write(framed(bytes, start, end));
        isGreeted = true;
        return true;
      }),
    );
    for (const socket of [client, server]) {
      socket.on("error", () => {
        // The following close event is sufficient.
      });
      socket.once("close", () => this.end());
    }
  }

  end(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #request(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isEnding) return;
    if (this.#isGreeting) {
      this.#isGreeting = false;
      this.#server.write(framed(bytes, start, end));
      return;
    }
    const reader = new JuteReader();
    reader.reset(bytes, start, end);
    const xid = reader.int();
    const refusal = this.#judge(reader.int(), reader);
    if (refusal?.hangsUp === true) {
      this.#hangUp(xid, refusal);
      return;
    }
    // Events, pings and auth packets are answered out of this order, under numbers of their own.
    if (xid > 0) this.#due.push({ xid, refusal });
    if (refusal === undefined) this.#server.write(framed(bytes, start, end));
    this.#refuseDue();
  }

  #answer(bytes: Uint8Array, start: number, end: number): void {
    const reader = new JuteReader();
    reader.reset(bytes, start, end);
    if (this.#isEnding) return;
    if (reader.int() > 0) this.#due.shift();
    this.#client.write(framed(bytes, start, end));
    this.#refuseDue();
  }

  #refuseDue(): void {
    for (let next = this.#due[0]; next?.refusal !== undefined; next = this.#due[0]) {
      const { errno } = next.refusal;
      this.#due.shift();
      if (errno !== undefined) this.#client.write(refusalFrame(next.xid, errno));
    }
  }

  /** At once, as Apache's servers do, even if other answers are due before. */
  #hangUp(xid: number, { errno }: ReplacedAnswer): void {
    this.#isEnding = true;
    if (errno !== undefined) this.#client.write(refusalFrame(xid, errno));
    this.#client.end(() => this.end());
  }
}

function framed(bytes: Uint8Array, start: number, end: number): Buffer {
  const frame = Buffer.alloc(4 + end - start);
  frame.writeInt32BE(end - start);
  frame.set(bytes.subarray(start, end), 4);
  return frame;
}

function refusalFrame(xid: number, errno: number): Buffer {
  const writer = new JuteWriter();
  const frame = writer.beginFrame();
  writer.int(xid);
  writer.zxid(ZXID_NONE);
  writer.int(errno);
  writer.endFrame(frame);
  return Buffer.from(writer.bytes.subarray(0, writer.end));
}
