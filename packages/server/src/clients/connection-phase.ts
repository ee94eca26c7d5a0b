import { assert } from "@zooid/model";

/**
 * The life of a client's connection:
 *
 * - `first bytes`: they are a four-letter word, or a connect request in its frame
 * - `answering`: a long answer to a four-letter word is sent as the client takes it
 * - `connect request`: the frame of the connect request is not complete
 * - `requests`: a connect request was received; the replica opens the session, and then takes
 *   requests
 * - `closing`: nothing is read any more; closed behind its last bytes at the end of the turn
 * - `ending`: the last bytes are written; the socket is closed in this turn or a later one
 */
export type ConnectionPhase = "first bytes" | "answering" | "connect request" | "requests" | "closing" | "ending";

/**
 * An event of a connection: its first bytes are those of frames, or a word with a long answer; its
 * connect request is complete; either side closes it; its last bytes are written; its socket is
 * closed.
 */
export type PhaseEvent = "frames" | "long answer" | "connect request" | "close" | "written" | "closed";

/** Each phase that follows from an event. An event without an entry does not come in that phase. */
export const TRANSITIONS: Readonly<Record<ConnectionPhase, Readonly<Partial<Record<PhaseEvent, ConnectionPhase>>>>> = {
  "first bytes": {
    frames: "connect request",
    "long answer": "answering",
    close: "closing",
    closed: "ending",
  },
  answering: { close: "closing", closed: "ending" },
  "connect request": { "connect request": "requests", close: "closing", closed: "ending" },
  requests: { close: "closing", closed: "ending" },
  closing: { close: "closing", written: "ending", closed: "ending" },
  ending: { close: "ending", closed: "ending" },
};

export function phaseAfter(phase: ConnectionPhase, event: PhaseEvent): ConnectionPhase {
  const next = TRANSITIONS[phase][event];
  assert(next !== undefined, () => `a connection has no "${event}" in the phase "${phase}"`);
  return next;
}
