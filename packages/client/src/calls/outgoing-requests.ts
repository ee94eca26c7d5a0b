import { type ConnectRequest, OpCode } from "@zooid/model";
import { BufferPool, JuteWriter, writeConnectRequest, writeRequestHeader } from "@zooid/wire";
import type { CurrentConnection } from "../session/current-connection.ts";
import { type AnyCall, SERVER_FRAME_BYTES_MAX } from "./call.ts";

const XID_PING = -2;
/** Above this size a write does not wait for the end of the turn. */
const FLUSH_BYTES = 64 * 1024;

/** Encoded requests: those of one turn of the event loop are sent in one write. */
export class OutgoingRequests {
  readonly #connection: CurrentConnection;
  readonly #frameBytesMax: number;
  readonly #leaving: (nowMs: number) => void;
  readonly #pool = new BufferPool();
  readonly #writer: JuteWriter = new JuteWriter(this.#pool);
  #isFlushDue = false;
  #sentBytes = 0;

  /** @param leaving called right before the encoded requests are passed to the connection */
  constructor(
    connection: CurrentConnection,
    { frameBytesMax, leaving }: { readonly frameBytesMax: number; readonly leaving: (nowMs: number) => void },
  ) {
    this.#connection = connection;
    this.#frameBytesMax = frameBytesMax;
    this.#leaving = leaving;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  /**
   * Encodes a request behind the others of this turn. False when it is too large or invalid, and
   * was rejected.
   */
  write(call: AnyCall): boolean {
    const writer = this.#writer;
    const frame = writer.beginFrame();
    try {
      writeRequestHeader(writer, call.xid, call.operation.code);
      call.operation.write(writer, call.path, call.body, call.wantsWatch);
    } catch (error) {
      // Arguments of wrong types: half a request must not damage the others.
      writer.end = frame;
      call.reject(error);
      return false;
    }
    const bytes = writer.end - frame - 4;
    if (bytes > this.#frameBytesMax) {
      writer.end = frame;
      const reason = `the request has ${bytes} bytes, and frameBytesMax is ${this.#frameBytesMax}`;
      call.reject(call.failure("PACKET_TOO_LARGE", "not-sent", undefined, reason));
      return false;
    }
    writer.endFrame(frame);
    call.largeBytes = bytes > SERVER_FRAME_BYTES_MAX ? bytes : 0;
    return true;
  }

  /** Schedules a flush at the end of the turn, or flushes now if there is much to write. */
  scheduleFlush(): void {
    if (this.#writer.end >= FLUSH_BYTES) {
      this.#flush();
      return;
    }
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    // After the promises of this turn have run, so that calls made by their users leave in the same
    // write.
    process.nextTick(flushOf, this);
  }

  /** @internal The end of a turn. */
  flushTurn(): void {
    this.#isFlushDue = false;
    this.#flush();
  }

  handshake(request: ConnectRequest): void {
    writeConnectRequest(this.#writer, request);
    this.#flush();
  }

  ping(): void {
    const writer = this.#writer;
    const frame = writer.beginFrame();
    writeRequestHeader(writer, XID_PING, OpCode.PING);
    writer.endFrame(frame);
    this.#flush();
  }

  /** Discards requests that were not passed to the connection. */
  clear(): void {
    this.#writer.clear();
  }

  #flush(): void {
    const { end } = this.#writer;
    if (end === 0 || !this.#connection.exists) return;
    const buffer = this.#writer.detach();
    this.#sentBytes += end;
    this.#leaving(performance.now());
    this.#connection.write(buffer.bytes.subarray(0, end), () => this.#pool.giveWritten(buffer));
  }
}

function flushOf(requests: OutgoingRequests): void {
  requests.flushTurn();
}
