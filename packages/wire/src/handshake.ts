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
