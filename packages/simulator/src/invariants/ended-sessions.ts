import type { ConnectionRef, SessionId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

/**
 * C10: a server that has applied the end of a session has no open connection of that session, and
 * opens none.
 */
export class EndedSessions {
  /** Ended in the present step. */
  readonly #ended = new Set<SessionId>();

  /** A server has applied the end of a session; the connections are closed in the same step. */
  applied(session: SessionId): void {
    this.#ended.add(session);
  }

  /** @param refs the connections of the server */
  stepped(server: SimServer, refs: () => readonly ConnectionRef[]): void {
    if (this.#ended.size === 0) return;
    for (const ref of refs()) {
      const connection = server.replica.connection(ref);
      if (connection?.phase !== "open" || connection.session === undefined) continue;
      if (this.#ended.has(connection.session.id)) {
        const what = `session ${connection.session.id}, which has ended there, on connection ${ref}`;
        throw new Violation("C10", `server ${server.sid} still serves ${what}`);
      }
    }
    this.#ended.clear();
  }
}
