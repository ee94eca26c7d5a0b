import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls, type ConnectionOptions as TlsConnectionOptions } from "node:tls";
import { CreateMode, OpCode, SESSION_NONE, type SessionId, ZXID_NONE, type Zxid } from "@zooid/model";
import { type ConnectResponse, readConnectResponse, writeConnectRequest } from "../handshake.ts";
import { JuteReader } from "../jute-reader.ts";
import { JuteWriter } from "../jute-writer.ts";
import { RawConnection } from "./raw-connection.ts";

/** An answer or an event: its header, and a reader that stands before its body. */
export interface RawReply {
  readonly xid: number;
  readonly zxid: number;
  readonly code: number;
  readonly body: JuteReader;
}

export interface Handshake {
  readonly sessionId?: SessionId;
  readonly password?: Uint8Array | null;
  readonly timeoutMs?: number;
  readonly lastZxidSeen?: number;
  /** False leaves the last byte out, as old clients do. */
  readonly readOnlyByte?: boolean;
}

/**
 * A passive client for tests: it sends given bytes and passes on the received frames, in
 * order. Not part of the package.
 */
export class RawClient extends RawConnection {
  #xid = 0;

  /** @param localAddress another loopback address to come from */
  static async open(port: number, localAddress = "127.0.0.1"): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true });
    const client = new RawClient(socket);
    await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
    return client;
  }

  /** Speaks TLS. Rejects when the server does not take what the client shows of itself. */
  static async openTls(port: number, options: TlsConnectionOptions): Promise<RawClient> {
    const socket = connectTls({ port, host: "127.0.0.1", ...options });
    const client = new RawClient(socket);
    await once(socket, "secureConnect");
    return client;
  }

  /** A connection with a session. */
  static async withSession(port: number, handshake: Handshake = {}, localAddress?: string): Promise<RawClient> {
    const client = await RawClient.open(port, localAddress);
    await client.handshake(handshake);
    return client;
  }

  async handshake(handshake: Handshake = {}): Promise<ConnectResponse> {
    this.send(connectRequest(handshake));
    const frame = await this.frame();
    return readConnectResponse(frame, 0, frame.length);
  }

  /** Asks with the next xid and takes the next frame for its answer. */
  async ask(op: number, body: (writer: JuteWriter) => void = () => {}): Promise<RawReply> {
    this.send(request(++this.#xid, op, body));
    return this.reply();
  }

  /** The next frame as an answer or event. */
  async reply(): Promise<RawReply> {
    const frame = await this.frame();
    const body = new JuteReader();
    body.reset(frame, 0, frame.length);
    const xid = body.int();
    const zxid = body.zxid();
    return { xid, zxid, code: body.int(), body };
  }
}

/** A frame with its length in front. */
export function frameOf(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  const at = writer.beginFrame();
  write(writer);
  writer.endFrame(at);
  return writer.bytes.subarray(0, writer.end);
}

export function connectRequest({
  sessionId = SESSION_NONE,
  password = new Uint8Array(16),
  timeoutMs = 30_000,
  lastZxidSeen = ZXID_NONE,
  readOnlyByte = true,
}: Handshake = {}): Buffer {
  if (password === null) {
    return frameOf((writer) => {
      writer.int(0);
      writer.zxid(lastZxidSeen);
      writer.int(timeoutMs);
      writer.long(Number(BigInt.asIntN(32, sessionId >> 32n)), Number(BigInt.asIntN(32, sessionId)));
      writer.null();
      writer.bool(false);
    });
  }
  const writer = new JuteWriter();
  writeConnectRequest(writer, {
    protocolVersion: 0,
    lastZxidSeen: lastZxidSeen as Zxid,
    timeoutMs,
    sessionId,
    password: { bytes: password, start: 0, end: password.length },
    readOnly: readOnlyByte ? false : undefined,
  });
  return writer.bytes.subarray(0, writer.end);
}

export function request(xid: number, op: number, body: (writer: JuteWriter) => void = () => {}): Buffer {
  return frameOf((writer) => {
    writer.int(xid);
    writer.int(op);
    body(writer);
  });
}

/** A multi's frame: each part with its header, and the end marker. */
export function multi(
  xid: number,
  ...parts: readonly (readonly [op: number, body: (writer: JuteWriter) => void])[]
): Buffer {
  return request(xid, OpCode.MULTI, multiBody(...parts));
}

export function multiBody(
  ...parts: readonly (readonly [op: number, body: (writer: JuteWriter) => void])[]
): (writer: JuteWriter) => void {
  return (writer) => {
    for (const [op, body] of parts) {
      partHeader(writer, op, false);
      body(writer);
    }
    partHeader(writer, -1, true);
  };
}

function partHeader(writer: JuteWriter, op: number, done: boolean): void {
  writer.int(op);
  writer.bool(done);
  writer.int(-1);
}

/** The body of a create with an open access list. */
export function create(
  path: string | Uint8Array,
  data: string | Uint8Array = "",
  flags: number = CreateMode.PERSISTENT,
): (writer: JuteWriter) => void {
  return (writer) => {
    field(writer, path);
    field(writer, data);
    writer.int(1);
    writer.int(31);
    writer.text("world");
    writer.text("anyone");
    writer.int(flags);
  };
}

/** The body of getData, exists, getChildren, getChildren2. */
export function read(path: string | Uint8Array, watch = false): (writer: JuteWriter) => void {
  return (writer) => {
    field(writer, path);
    writer.bool(watch);
  };
}

export function setData(path: string | Uint8Array, data: string, version = -1): (writer: JuteWriter) => void {
  return (writer) => {
    field(writer, path);
    writer.text(data);
    writer.int(version);
  };
}

/** The body of delete and check. */
export function versioned(path: string | Uint8Array, version = -1): (writer: JuteWriter) => void {
  return (writer) => {
    field(writer, path);
    writer.int(version);
  };
}

export function auth(scheme: string, data: string | null): (writer: JuteWriter) => void {
  return (writer) => {
    writer.int(0);
    writer.text(scheme);
    if (data === null) writer.null();
    else writer.text(data);
  };
}

function field(writer: JuteWriter, value: string | Uint8Array): void {
  if (typeof value === "string") writer.text(value);
  else writer.range(value, 0, value.length);
}
