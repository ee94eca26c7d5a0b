import type { ByteSlice } from "../byte-slice.ts";
import type { SessionId } from "../tree/session.ts";
import type { Zxid } from "./zxid.ts";

/** The first frame of a client. */
export interface ConnectRequest {
  readonly protocolVersion: number;
  readonly lastZxidSeen: Zxid;
  readonly timeoutMs: number;
  /** 0 asks for a new session. */
  readonly sessionId: SessionId;
  /** Lies in the frame; empty for null. */
  readonly password: Readonly<ByteSlice>;
  /**
   * Undefined when the client is so old that it does not send it; the answer then leaves it out
   * too.
   */
  readonly readOnly: boolean | undefined;
}
