import { ErrorCode, type Zxid } from "@zooid/model";
import { JuteReader, type OversizeSink, readWatcherEvent, WireError } from "@zooid/wire";
import type { Credentials } from "../auth/credentials.ts";
import type { AnyCall, CallFields } from "../calls/call.ts";
import type { ExclusiveCalls } from "../calls/exclusive-calls.ts";
import type { InFlight } from "../calls/in-flight.ts";
import { CLOSE_SESSION, DELETE, type Operation } from "../calls/operation.ts";
import type { PostponedCalls } from "../calls/postponed-calls.ts";
import type { ServerWatches } from "../watches/server-watches.ts";
import { watchEventName } from "../watches/watch-event.ts";
import { traceEvent } from "./diagnostics.ts";
import type { Session } from "./session.ts";

const XID_EVENT = -1;
const XID_PING = -2;
const XID_AUTH = -4;

export interface AnswerParts {
  readonly session: Session;
  readonly inFlight: InFlight;
  readonly exclusive: ExclusiveCalls;
  readonly postponed: PostponedCalls;
  readonly credentials: Credentials;
  readonly serverWatches: ServerWatches;
  readonly responseBytesMax: number;
}

export interface AnswerSinks {
  /** The server has reported that the session has moved or ended. */
  disowned(): void;
  ask<B, T>(fields: CallFields<B, T>): Promise<T>;
}

/** Frames of an established session: each is an event, or settles the oldest call in flight. */
export class ReceivedAnswers {
  readonly #parts: AnswerParts;
  readonly #sinks: AnswerSinks;
  readonly #reader = new JuteReader();

  constructor(parts: AnswerParts, sinks: AnswerSinks) {
    this.#parts = parts;
    this.#sinks = sinks;
  }

  /** @throws WireError for a frame behind which the stream is unreadable */
  take(bytes: Uint8Array, start: number, end: number): void {
    const reader = this.#reader;
    reader.reset(bytes, start, end);
    const xid = reader.int();
    const zxid = reader.zxid();
    const code = reader.int();
    const { session, credentials, serverWatches } = this.#parts;
    switch (xid) {
      case XID_EVENT: {
        const { type, path } = readWatcherEvent(reader);
        const event = { type: watchEventName(type), path, zxid };
        traceEvent(event);
        serverWatches.registry.fire(event);
        return;
      }
      case XID_PING:
        session.pingAnswered(zxid);
        return;
      case XID_AUTH:
        if (!credentials.answered(code)) session.authFailed();
        return;
      default:
        this.#callAnswered(xid, zxid, code);
    }
  }

  /**
   * The answer to the oldest call is larger than the client accepts: that call fails, and the
   * connection, with the session's watches and locks, is kept.
   */
  readonly takeOversized: OversizeSink = (length, bytes, start, end) => {
    const { session, inFlight, exclusive, serverWatches, responseBytesMax } = this.#parts;
    const reader = this.#reader;
    reader.reset(bytes, start, end);
    const [xid, zxid] = [reader.int(), reader.zxid()];
    const call = inFlight.oldest;
    if (call === undefined || call.xid !== xid) return false;
    session.answered(inFlight.oldestSentAtMs, zxid);
    inFlight.shift();
    exclusive.settled(call);
    serverWatches.discarded(call);
    call.reject(call.tooLarge(length, responseBytesMax));
    return true;
  };

  #callAnswered(xid: number, zxid: Zxid, code: number): void {
    const { session, inFlight, exclusive, postponed, serverWatches } = this.#parts;
    const expected = inFlight.oldest;
    if (expected === undefined || expected.xid !== xid) {
      throw new WireError("VALUE", `an answer to request ${xid}; the next is due to ${expected?.xid ?? "none"}`);
    }
    session.answered(inFlight.oldestSentAtMs, zxid);
    if (expected.syncError !== undefined) {
      inFlight.shift();
      // The read's own result is discarded.
      serverWatches.discarded(expected);
      postponed.tryAgainOrReject(expected, expected.syncError);
      return;
    }
    if (code === ErrorCode.OK) {
      let value: unknown;
      try {
        value = expected.operation.read(this.#reader, expected.body);
      } catch (error) {
        // The same request would get the same answer.
        if (error instanceof WireError) expected.reject(expected.unreadable(error));
        throw error;
      }
      inFlight.shift();
      exclusive.settled(expected);
      if (expected.arming !== undefined) serverWatches.answered(expected, false);
      if (expected.isSettled) this.#undo(expected, value);
      else expected.resolve(value);
    } else {
      inFlight.shift();
      exclusive.settled(expected);
      this.#refused(expected, code);
    }
    if (expected.operation !== (CLOSE_SESSION as Operation<unknown, unknown>)) return;
    if (code === ErrorCode.OK || code === ErrorCode.SESSION_EXPIRED) session.sessionClosed();
    else session.closeRefused(performance.now());
  }

  #refused(call: AnyCall, code: number): void {
    const { postponed, serverWatches } = this.#parts;
    const { absent } = call.operation;
    const isAbsent = code === ErrorCode.NO_NODE && absent !== undefined;
    if (call.arming !== undefined) serverWatches.answered(call, true, isAbsent);
    if (isAbsent) {
      call.resolve(absent.value);
      return;
    }
    // The next handshake shows what became of the session. The rest of the chunk is processed.
    if (code === ErrorCode.SESSION_MOVED || code === ErrorCode.SESSION_EXPIRED) this.#sinks.disowned();
    postponed.tryAgainOrReject(call, call.refusal(code, this.#reader));
  }

  /** A cancelled create has succeeded: its node is deleted, unless it was changed. */
  #undo(call: AnyCall, value: unknown): void {
    if (call.operation.creates !== true) return;
    const { path } = value as { readonly path: string };
    this.#sinks.ask({ operation: DELETE, path, shownPath: path, body: 0, isOwn: true }).catch(() => {
      // The node is in use, gone already, or goes with its session.
    });
  }
}
