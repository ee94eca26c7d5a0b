import { ArgumentError, checkClient } from "@zooid/model";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";

/**
 * Expires a client's session at the server: a second connection takes the session over and closes
 * it. The client learns of it when it reconnects.
 *
 * @param hosts where to connect, as in a connect string; default: the client's current server
 *
 * @throws ArgumentError for a client without a session, or without a server where no hosts are
 *   given
 */
export async function expireSession(client: Client, hosts?: string): Promise<void> {
  checkClient("expireSession", client);
  const { sessionId, sessionPassword, server } = client;
  if (sessionId === 0n) throw new ArgumentError("expireSession", ["the client has no session to expire"]);
  const target = hosts ?? server;
  if (target === undefined)
    throw new ArgumentError("expireSession", ["the client has no server at present: say which hosts to connect to"]);
  const thief = await connect(target, {
    session: { id: sessionId, password: sessionPassword },
    onExpiry: "close",
  });
  await thief.close();
}
