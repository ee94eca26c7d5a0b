import type { SessionId } from "@zooid/model";

/**
 * Where a client stands, one value at a time:
 *
 *     connecting ─▶ connected │ read-only ─▶ suspended ─▶ connected (same session)
 *                                                     └─▶ lost ─▶ connected (new session, or the old one after all)
 *     any ─▶ closed        any ─▶ auth-failed
 *
 * `suspended`: no server answers, the session may live. `lost`: the session is over, or so much time has passed without an answer
 * that it may be; its ephemerals and locks must be taken for gone.
 */
export type ClientState =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly sessionId: SessionId; readonly server: string }
  | { readonly kind: "read-only"; readonly sessionId: SessionId; readonly server: string }
  | { readonly kind: "suspended"; readonly sessionId: SessionId }
  | { readonly kind: "lost"; readonly sessionId: SessionId }
  | { readonly kind: "auth-failed" }
  | { readonly kind: "closed" };

export function isTerminal(state: ClientState): boolean {
  return state.kind === "closed" || state.kind === "auth-failed";
}

export function isConnected(state: ClientState): boolean {
  return state.kind === "connected" || state.kind === "read-only";
}
