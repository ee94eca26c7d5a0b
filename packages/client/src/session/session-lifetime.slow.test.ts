import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { tcpTransport } from "../transport/tcp-transport.ts";
import type { Transport } from "../transport/transport.ts";

let server: ZooidServer;

beforeEach(async () => {
  server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000 });
});

afterEach(() => server.stop());

/** A ping's frame: its length, xid and operation. */
const PING_BYTES = 12;

test("a session in use outlives its timeout many times, and knows how far it has seen", async () => {
  await using zk = await connect(server.connectString, { sessionTimeoutMs: 1_500 });
  const kinds: string[] = [];
  zk.state$.subscribe(({ kind }) => kinds.push(kind));
  const { stat } = await zk.create("/a");
  for (const end = performance.now() + 6_000; performance.now() < end; ) await zk.get("/a");
  expect([kinds, zk.lastZxid]).toEqual([["connected"], stat.czxid]);
});

test("an idle session outlives its timeout by pings", async () => {
  const pinged = Promise.withResolvers<void>();
  let pingCount = 0;
  const transport: Transport = {
    ...tcpTransport,
    connect(address, events) {
      const connection = tcpTransport.connect(address, events);
      return {
        ...connection,
        write(bytes, done) {
          if (bytes.length === PING_BYTES && ++pingCount === 4) pinged.resolve();
          return connection.write(bytes, done);
        },
      };
    },
  };
  await using zk = await connect(server.connectString, { sessionTimeoutMs: 2_400, transport });
  const kinds: string[] = [];
  zk.state$.subscribe(({ kind }) => kinds.push(kind));
  await pinged.promise;
  expect(kinds).toEqual(["connected"]);
});
