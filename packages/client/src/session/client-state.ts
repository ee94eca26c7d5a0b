import { checkArgument, type Rule, rules, type SessionId } from "@zooid/model";

/**
 * While there is no connection: each failed attempt emits the state again, with the number of
 * failed attempts so far and the reason of the last one. Both are absent before the first.
 */
export interface ConnectionAttempts {
  readonly attempt?: number;
  /** The server that was tried, and why it failed. */
  readonly reason?: string;
}

/**
 * The state of a client:
 *
 *     connecting ─▶ connected │ read-only ─▶ suspended ─▶ connected (same session)
 *                                                     └─▶ lost ─▶ connected (new session, or the old one after all)
 *     any ─▶ closed        any ─▶ auth-failed
 *
 * `suspended`: no server answers, the session may live. `lost`: the session is over, or has been
 * without an answer for so long that it may be; the client must assume that its ephemerals and
 * locks are gone.
 */
export type ClientState =
  | ({ readonly kind: "connecting" } & ConnectionAttempts)
  | { readonly kind: "connected"; readonly sessionId: SessionId; readonly server: string }
  | { readonly kind: "read-only"; readonly sessionId: SessionId; readonly server: string }
  | ({ readonly kind: "suspended"; readonly sessionId: SessionId } & ConnectionAttempts)
  | ({ readonly kind: "lost"; readonly sessionId: SessionId } & ConnectionAttempts)
  | { readonly kind: "auth-failed" }
  | { readonly kind: "closed" };

const stateRule: Rule = {
  expected: "a state, as client.state",
  accepts: (value) => rules.record.accepts(value) && "kind" in (value as object),
};

export function isTerminal(state: ClientState): boolean {
  checkArgument("isTerminal", "the state", state, stateRule);
  return state.kind === "closed" || state.kind === "auth-failed";
}

export function isConnected(state: ClientState): boolean {
  checkArgument("isConnected", "the state", state, stateRule);
  return state.kind === "connected" || state.kind === "read-only";
}
