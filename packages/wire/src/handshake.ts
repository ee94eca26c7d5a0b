import {
  type ByteSlice,
  type ConnectRequest,
  emptySlice,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
  zxidFromHalves,
} from "@zooid/model";
import { JuteReader } from "./jute-reader.ts";
import type { JuteWriter } from "./jute-writer.ts";

/**
 * The first frame in each direction, which has no header as later ones do:
 *
 * ```
 *  request    version i32 │ last zxid seen i64 │ timeout i32 │ session i64 │ password │ read-only bool
 *  response   version i32 │                      timeout i32 │ session i64 │ password │ read-only bool
 * ```
 *
 * A session of 0 asks for a new one; another one, with its password, is to be resumed. A response
 * with a timeout of 0 says that the session is gone. The version is 0 and has never been another.
 *
 * The read-only byte came with ZooKeeper 3.4. Older clients send none and do not expect one, so
 * `undefined` is kept apart from false, and a server answers with the byte only where it got one.
 */

export function readConnectRequest(bytes: Uint8Array, start: number, end: number): ConnectRequest {
  const reader = new JuteReader();
  reader.reset(bytes, start, end);
  const protocolVersion = reader.int();
  const lastZxidSeen = zxidFromHalves(reader.int(), reader.int());
  const timeoutMs = reader.int();
  const sessionId = sessionIdFromHalves(reader.int(), reader.int());
  const password = emptySlice();
  reader.slice(password);
  const readOnly = reader.rest > 0 ? reader.bool() : undefined;
  return { protocolVersion, lastZxidSeen, timeoutMs, sessionId, password, readOnly };
}

export function writeConnectRequest(writer: JuteWriter, request: ConnectRequest): void {
  const frame = writer.beginFrame();
  writer.int(request.protocolVersion);
  writer.zxid(request.lastZxidSeen);
  writer.int(request.timeoutMs);
  writer.long(sessionIdHigh(request.sessionId), sessionIdLow(request.sessionId));
  writer.slice(request.password);
  if (request.readOnly !== undefined) writer.bool(request.readOnly);
  writer.endFrame(frame);
}

export interface ConnectResponse {
  /** 0 when the session is gone. */
  readonly timeoutMs: number;
  readonly sessionId: SessionId;
  readonly password: Readonly<ByteSlice>;
  readonly readOnly: boolean | undefined;
}

export function writeConnectResponse(writer: JuteWriter, response: ConnectResponse): void {
  const frame = writer.beginFrame();
  writer.int(0);
  writer.int(response.timeoutMs);
  writer.long(sessionIdHigh(response.sessionId), sessionIdLow(response.sessionId));
  writer.slice(response.password);
  if (response.readOnly !== undefined) writer.bool(response.readOnly);
  writer.endFrame(frame);
}

export function readConnectResponse(bytes: Uint8Array, start: number, end: number): ConnectResponse {
  const reader = new JuteReader();
  reader.reset(bytes, start, end);
  reader.int();
  const timeoutMs = reader.int();
  const sessionId = sessionIdFromHalves(reader.int(), reader.int());
  const password = emptySlice();
  reader.slice(password);
  const readOnly = reader.rest > 0 ? reader.bool() : undefined;
  return { timeoutMs, sessionId, password, readOnly };
}
