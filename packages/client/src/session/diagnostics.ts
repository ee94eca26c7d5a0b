/**
 * Events of every client of this process, for tracing and metrics, on channels of
 * `node:diagnostics_channel`. Without subscribers they cost one check of a flag.
 */
import { type Channel, channel } from "node:diagnostics_channel";
import type { WatchEvent } from "../watches/watch-event.ts";
import type { ClientState } from "./client-state.ts";
import { withJson } from "./json-text.ts";

/**
 * On `zk:client:request`: a call is made. The {@link ResponseMessage} refers to the same object.
 */
export interface RequestMessage {
  /** The client's method. */
  readonly op: string;
  /** The caller's path. */
  readonly path: string;
  /** `address:port` of the server that is connected or being dialled. */
  readonly server: string | undefined;
  readonly sessionId: bigint;
}

/** On `zk:client:response`: a call is settled. */
export interface ResponseMessage {
  readonly request: RequestMessage;
  /** From the call to its end, including waiting and retries. */
  readonly durationMs: number;
  /** The error; undefined after a success. A `ZkError`, or the reason of the caller's signal. */
  readonly error: unknown;
}

/** On `zk:client:state`: a change of `state$`. */
export interface StateMessage {
  readonly state: ClientState;
}

/** On `zk:client:connection`: an attempt has failed, or a connection has begun or ended. */
export interface ConnectionMessage {
  readonly kind: "connected" | "failed" | "closed";
  /** `address:port`, or the name that could not be resolved. */
  readonly server: string;
  /** Number of failed attempts since there was a connection. */
  readonly attempt: number;
  /** The reason of `failed`, and of `closed` where one is known. */
  readonly error: Error | undefined;
  readonly sessionId: bigint;
}

/** On `zk:client:watch`: an event came from a server. */
export interface WatchMessage {
  readonly event: WatchEvent;
}

/** On `zk:client:stall`: the event loop was blocked for so long that sessions were at risk. */
export interface StallMessage {
  /** The delay of the timer in milliseconds; more than a third of the session's timeout. */
  readonly lateMs: number;
  readonly sessionTimeoutMs: number;
  readonly sessionId: bigint;
}

/**
 * On `zk:client:fallback`, once for each server: it does not support persistent watches, so
 * `watchTree$` uses one-shot watches there.
 */
export interface FallbackMessage {
  /** Its `address:port`. */
  readonly server: string;
  /** `refused`: it answered so. `hung-up`: it closed each connection on which it was asked. */
  readonly reason: "refused" | "hung-up";
}

const requests: Channel = channel("zk:client:request");
const responses: Channel = channel("zk:client:response");
const states: Channel = channel("zk:client:state");
const connections: Channel = channel("zk:client:connection");
const events: Channel = channel("zk:client:watch");
const stalls: Channel = channel("zk:client:stall");
const fallbacks: Channel = channel("zk:client:fallback");

export function areCallsTraced(): boolean {
  return requests.hasSubscribers || responses.hasSubscribers;
}

/** Publishes a call and its end; the result is not touched. */
export function traceCall<T>(request: RequestMessage, answered: Promise<T>): Promise<T> {
  requests.publish(withJson(request) satisfies RequestMessage);
  const madeAt = performance.now();
  const end = (error: unknown): void =>
    responses.publish({ request, durationMs: performance.now() - madeAt, error } satisfies ResponseMessage);
  answered.then(() => end(undefined), end);
  return answered;
}

export function traceState(state: ClientState): void {
  if (states.hasSubscribers) states.publish({ state } satisfies StateMessage);
}

export function traceConnection(message: ConnectionMessage): void {
  if (connections.hasSubscribers) connections.publish(withJson(message) satisfies ConnectionMessage);
}

export function traceEvent(event: WatchEvent): void {
  if (events.hasSubscribers) events.publish({ event } satisfies WatchMessage);
}

export function traceStall(message: StallMessage): void {
  if (stalls.hasSubscribers) stalls.publish(withJson(message) satisfies StallMessage);
}

export function traceFallback(message: FallbackMessage): void {
  if (fallbacks.hasSubscribers) fallbacks.publish(message satisfies FallbackMessage);
}
