/**
 * Sends a reconfiguration over a session of its own. The client library has no such operation, since no program should change an
 * ensemble's members; this shell is where operators do.
 */
import { connect, type Socket } from "node:net";
import { parseConnectString } from "@zooid/client";
import { errorName, OpCode, PASSWORD_BYTES, SESSION_NONE, type Stat, ZXID_NONE } from "@zooid/model";
import {
  Framer,
  JuteReader,
  JuteWriter,
  readConnectResponse,
  readData,
  readStat,
  writeAuth,
  writeConnectRequest,
  writeRequestHeader,
} from "@zooid/wire";
import { CliError } from "./cli-error.ts";
import type { Connection } from "./connection.ts";
import { refusalText } from "./explain-error.ts";

export interface ReconfigRequest {
  /** Servers as the configuration writes them, with commas between; null for none. */
  readonly joining: string | null;
  readonly leaving: string | null;
  /** The whole of the new members instead; null for a change by steps. */
  readonly members: string | null;
  /** The version that must be in force; -1 for any. */
  readonly fromConfig: bigint;
  readonly signal: AbortSignal;
}

export interface Reconfigured {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}

const TIMEOUT_MS = 30_000;
const FRAME_BYTES_MAX = 1024 * 1024;
const XID_AUTH = -4;

/** @throws CliError with the server's refusal */
export async function sendReconfig(connection: Connection, request: ReconfigRequest): Promise<Reconfigured> {
  const exchange = new Exchange(connection.serverAddress ?? "", request.signal);
  try {
    await exchange.greet();
    for (const { scheme, auth } of connection.credentials) {
      await exchange.ask(XID_AUTH, OpCode.AUTH, (writer) => writeAuth(writer, scheme, Buffer.from(auth)));
    }
    const reader = await exchange.ask(1, OpCode.RECONFIG, (writer) => {
      writeTextOrNull(writer, request.joining);
      writeTextOrNull(writer, request.leaving);
      writeTextOrNull(writer, request.members);
      writer.long(Number(BigInt.asIntN(32, request.fromConfig >> 32n)), Number(BigInt.asIntN(32, request.fromConfig)));
    });
    const answer = { data: readData(reader), stat: readStat(reader) };
    await exchange.ask(2, OpCode.CLOSE_SESSION, () => undefined);
    return answer;
  } finally {
    exchange.end();
  }
}

function writeTextOrNull(writer: JuteWriter, text: string | null): void {
  if (text === null) writer.null();
  else writer.text(text);
}

/** One question and one answer at a time. */
class Exchange {
  readonly #socket: Socket;
  readonly #framer = new Framer(FRAME_BYTES_MAX);
  readonly #writer = new JuteWriter();
  #next: PromiseWithResolvers<Buffer> = Promise.withResolvers();

  constructor(address: string, signal: AbortSignal) {
    const [host = { host: "", port: 0 }] = parseConnectString(address).hosts;
    this.#socket = connect({ ...host, noDelay: true, timeout: TIMEOUT_MS, signal });
    this.#next.promise.catch(() => undefined);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("timeout", () => this.#socket.destroy());
    this.#socket.on("error", () => this.#socket.destroy());
    this.#socket.on("close", () => this.#next.reject(lost()));
  }

  async greet(): Promise<void> {
    writeConnectRequest(this.#writer, {
      protocolVersion: 0,
      lastZxidSeen: ZXID_NONE,
      timeoutMs: TIMEOUT_MS,
      sessionId: SESSION_NONE,
      password: { bytes: new Uint8Array(PASSWORD_BYTES), start: 0, end: PASSWORD_BYTES },
      readOnly: false,
    });
    const frame = await this.#send();
    if (readConnectResponse(frame, 0, frame.length).timeoutMs <= 0) throw lost();
  }

  /** @returns the answer's body */
  async ask(xid: number, op: number, write: (writer: JuteWriter) => void): Promise<JuteReader> {
    const start = this.#writer.beginFrame();
    writeRequestHeader(this.#writer, xid, op);
    write(this.#writer);
    this.#writer.endFrame(start);
    const frame = await this.#send();
    const reader = new JuteReader();
    reader.reset(frame, 0, frame.length);
    reader.int();
    reader.zxid();
    const errno = reader.int();
    if (errno === 0) return reader;
    const code = errorName(errno);
    throw new CliError(refusalText(code, ""), { code });
  }

  end(): void {
    this.#socket.destroy();
  }

  #send(): Promise<Buffer> {
    const bytes = Buffer.from(this.#writer.bytes.subarray(0, this.#writer.end));
    this.#writer.clear();
    this.#next = Promise.withResolvers();
    this.#next.promise.catch(() => undefined);
    if (this.#socket.destroyed) this.#next.reject(lost());
    else this.#socket.write(bytes);
    return this.#next.promise;
  }

  #take(chunk: Buffer): void {
    try {
      this.#framer.push(chunk, (bytes, start, end) => {
        this.#next.resolve(Buffer.from(bytes.subarray(start, end)));
        return true;
      });
    } catch {
      this.#socket.destroy();
    }
  }
}

function lost(): CliError {
  return new CliError(refusalText("CONNECTION_LOSS", undefined), { code: "CONNECTION_LOSS" });
}
