import { startServer, type ZooidServer } from "@zooid/embedded-server";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { Relay } from "../fault-injection/relay.ts";

/** A server, a client behind a relay, and one that is connected without it. */
export interface Stage {
  readonly server: ZooidServer;
  readonly relay: Relay;
  readonly zk: Client;
  readonly witness: Client;
}

/** @param atEnd registers a callback for the end of the test, as Vitest's `onTestFinished` does */
export async function setStage(atEnd: (end: () => Promise<void>) => void): Promise<Stage> {
  const server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000 });
  const relay = await Relay.start({ port: server.port });
  const zk = await connect(`127.0.0.1:${relay.port}`, { random: () => 0 });
  const witness = await connect(server.connectString);
  atEnd(async () => {
    relay.accept();
    relay.thaw();
    await Promise.all([zk.close(), witness.close()]);
    await relay[Symbol.asyncDispose]();
    await server.stop();
  });
  return { server, relay, zk, witness };
}
