/** Log records of one client: for the logger of its options, or one process warning without. */
import { formatSessionId, formatZxid } from "@zooid/model";
import type { DecodeError } from "../operations/decode-error.ts";
import type { ClientState } from "./client-state.ts";
import type { ConnectionMessage, StallMessage } from "./diagnostics.ts";
import type { Logger } from "./logger.ts";

export interface SessionLogOptions {
  readonly logger: Logger | undefined;
  readonly connectWarningMs: number;
}

export class SessionLog {
  readonly #logger: Logger | undefined;
  readonly #warningMs: number;
  /** Since when there is no connection; infinity while there is one, or after the warning. */
  #aloneSinceMs = Number.POSITIVE_INFINITY;
  #isAlone = false;

  constructor({ logger, connectWarningMs }: SessionLogOptions) {
    this.#logger = logger;
    this.#warningMs = connectWarningMs;
  }

  /** Time at which `tick` warns of a missing connection; infinity for never. */
  get warnAtMs(): number {
    return this.#aloneSinceMs + this.#warningMs;
  }

  /** Warns once, when there has been no connection for too long. */
  tick(nowMs: number, reasons: string | undefined): void {
    if (nowMs < this.warnAtMs) return;
    const aloneMs = Math.round(nowMs - this.#aloneSinceMs);
    this.#aloneSinceMs = Number.POSITIVE_INFINITY;
    const message = `no connection to ZooKeeper for ${aloneMs} ms, still trying: ${reasons ?? "no attempt has ended yet"}`;
    if (this.#logger !== undefined) this.#logger.warn(message, { aloneMs, reasons });
    else process.emitWarning(message, { type: "ZooidWarning", code: "ZOOID_NO_CONNECTION" });
  }

  state(state: ClientState, nowMs: number): void {
    const { kind } = state;
    const isAlone = kind === "connecting" || kind === "suspended" || kind === "lost";
    if (isAlone && !this.#isAlone) this.#aloneSinceMs = nowMs;
    if (!isAlone) this.#aloneSinceMs = Number.POSITIVE_INFINITY;
    this.#isAlone = isAlone;
    const logger = this.#logger;
    if (logger === undefined) return;
    const session = "sessionId" in state ? formatSessionId(state.sessionId) : undefined;
    const server = "server" in state ? state.server : undefined;
    const fields = { state: kind, ...(session && { session }), ...(server && { server }) };
    if (kind === "lost") logger.warn(`session ${session} is lost, and its ephemeral nodes with it`, fields);
    else if (kind === "auth-failed") logger.error("the server refused the credentials", fields);
    else logger.info([kind, server, session && `session ${session}`].filter(Boolean).join(" "), fields);
  }

  connection({ kind, server, attempt, error, sessionId }: ConnectionMessage): void {
    if (this.#logger === undefined) return;
    const reason = error?.message;
    const session = sessionId === 0n ? undefined : formatSessionId(sessionId as Parameters<typeof formatSessionId>[0]);
    const fields = { server, ...(attempt > 0 && { attempt }), ...(session && { session }), ...(reason && { reason }) };
    this.#logger.debug(
      reason === undefined ? `connection ${kind}: ${server}` : `connection ${kind}: ${reason}`,
      fields,
    );
  }

  /** Data that a stream has left out. */
  undecodable({ message, path, zxid }: DecodeError): void {
    if (this.#logger !== undefined) this.#logger.warn(message, { path, zxid: formatZxid(zxid) });
    else process.emitWarning(message, { type: "ZooidWarning", code: "ZOOID_UNDECODABLE" });
  }

  stall({ lateMs, sessionTimeoutMs, sessionId }: StallMessage): void {
    const session = formatSessionId(sessionId as Parameters<typeof formatSessionId>[0]);
    this.#logger?.warn(
      `the event loop was blocked for ${Math.round(lateMs)} ms; the session may expire after ${sessionTimeoutMs} ms`,
      { lateMs, sessionTimeoutMs, session },
    );
  }
}
