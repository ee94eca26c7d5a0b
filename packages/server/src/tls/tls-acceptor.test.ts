import { once } from "node:events";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { assert, parseProxyRange } from "@zooid/model";
import { expect, test } from "vitest";
import { AUTHORITY, HOST, STRANGER } from "../testing/certificates.ts";
import { TlsAcceptor } from "./tls-acceptor.ts";

const HANDSHAKES_OF_ONE = 40;

/**
 * Connections from one address and then one from another, each with its client's first bytes
 * received.
 */
async function gathered(addresses: readonly string[]): Promise<{
  readonly sockets: readonly Socket[];
  readonly clients: readonly TLSSocket[];
  [Symbol.dispose](): void;
}> {
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const sockets: Socket[] = [];
  const clients: TLSSocket[] = [];
  for (const localAddress of addresses) {
    const options = { port, host: "127.0.0.1", localAddress, ca: AUTHORITY, checkServerIdentity: () => undefined };
    const client = connect(options);
    client.on("error", () => {});
    clients.push(client);
    const [socket] = (await once(server, "connection")) as [Socket];
    socket.on("error", () => {});
    // The first bytes come to the buffer, where they stay.
    await once(socket, "readable");
    sockets.push(socket);
  }
  server.close();
  return {
    sockets,
    clients,
    [Symbol.dispose]: () => {
      for (const client of clients) client.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test("a client does not wait for the handshakes of another address that came first", async () => {
  const addresses = [...Array<string>(HANDSHAKES_OF_ONE).fill("127.0.0.2"), "127.0.0.3"];
  using connections = await gathered(addresses);
  const acceptor = new TlsAcceptor({ key: HOST.key, cert: HOST.cert });
  const secured: string[] = [];
  const all = Promise.withResolvers<void>();
  for (const socket of connections.sockets) {
    const address = socket.remoteAddress ?? "";
    acceptor.accept(
      socket,
      () => {
        secured.push(address);
        if (secured.length === addresses.length) all.resolve();
      },
      all.reject,
    );
  }
  await all.promise;
  expect(secured.indexOf("127.0.0.3")).toBeLessThan(HANDSHAKES_OF_ONE / 4);
});

test("a client of a trusted proxy waits for few handshakes of others that come by it", async () => {
  const addresses = [...Array<string>(HANDSHAKES_OF_ONE).fill("127.0.0.2"), "127.0.0.3"];
  using connections = await gathered(addresses);
  const range = parseProxyRange("127.0.0.2");
  assert(range !== undefined, "an address");
  const options = { key: HOST.key, cert: HOST.cert };
  const acceptor = new TlsAcceptor(options, { ranges: [range], share: 1 / 4 });
  const secured: string[] = [];
  const all = Promise.withResolvers<void>();
  for (const socket of connections.sockets) {
    const address = socket.remoteAddress ?? "";
    acceptor.accept(
      socket,
      () => {
        secured.push(address);
        if (secured.length === addresses.length) all.resolve();
      },
      all.reject,
    );
  }
  await all.promise;
  expect(secured.indexOf("127.0.0.3")).toBeLessThan(HANDSHAKES_OF_ONE / 4);
});

test("a server's handshake waits for few of strangers, from however many addresses they come", async () => {
  const strangers = Array.from({ length: HANDSHAKES_OF_ONE }, (_, i) => `127.0.1.${i + 1}`);
  using connections = await gathered([...strangers, "127.0.0.3"]);
  const acceptor = new TlsAcceptor({ key: HOST.key, cert: HOST.cert });
  const secured: string[] = [];
  const all = Promise.withResolvers<void>();
  for (const socket of connections.sockets) {
    const share = socket.remoteAddress ?? "";
    const done = (): void => {
      secured.push(share);
      if (secured.length > HANDSHAKES_OF_ONE) all.resolve();
    };
    acceptor.accept(socket, done, all.reject, { share, isProxied: share !== "127.0.0.3" });
  }
  await all.promise;
  expect(secured.indexOf("127.0.0.3")).toBeLessThan(HANDSHAKES_OF_ONE / 4);
});

test("a connection whose client disconnects while it waits is skipped", async () => {
  using connections = await gathered(["127.0.0.2", "127.0.0.2", "127.0.0.2"]);
  const acceptor = new TlsAcceptor({ key: HOST.key, cert: HOST.cert });
  const [first, second, third] = connections.sockets as [Socket, Socket, Socket];
  const secured = Promise.withResolvers<void>();
  acceptor.accept(first, () => {});
  acceptor.accept(second, () => {});
  acceptor.accept(third, () => secured.resolve(), secured.reject);
  first.destroy();
  second.destroy();
  await secured.promise;
  expect(acceptor.waitingCount).toBe(0);
});

test("a client that sends nothing is given up after the handshake's time", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const acceptor = new TlsAcceptor({ key: HOST.key, cert: HOST.cert, handshakeTimeout: 50 });
  const failure = Promise.withResolvers<Error>();
  server.on("connection", (socket) => acceptor.accept(socket, () => {}, failure.resolve));
  const client = connectTcp(port, "127.0.0.1");
  client.on("error", () => {});
  const closed = once(client, "close");
  client.resume();
  expect((await failure.promise).message).toBe("it took longer than 50 ms");
  await closed;
  server.close();
});

test("a certificate of another authority is reported with its fault", async () => {
  const certificates = { key: HOST.key, cert: HOST.cert, ca: AUTHORITY };
  const acceptor = new TlsAcceptor({ ...certificates, requestCert: true, rejectUnauthorized: true });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on("error", () => {});
    acceptor.accept(
      socket,
      () => resolve("accepted"),
      (_error, fault) => resolve(fault),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const { key, cert } = STRANGER;
  const client = connect({ port, host: "127.0.0.1", key, cert, ca: AUTHORITY, checkServerIdentity: () => undefined });
  client.on("error", () => {});
  expect(await promise).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  client.destroy();
  server.close();
});
