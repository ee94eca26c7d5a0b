/**
 * A TCP proxy that scenarios use to lose their connection on purpose.
 *
 * A connection that opens with `cut!` destroys all others and holds new ones back; one that opens
 * with `join` releases the held ones. Both are answered with `done`. A client's first packet is a
 * length and never looks like that.
 *
 *     client ──▶ proxy ──▶ server          "cut!"  client ──╳ proxy   server
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
}

export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const forwarded = new Set<Socket>();
  const held = new Map<Socket, Buffer>();
  const open = new Set<Socket>();
  let isCut = false;

  function forward(client: Socket, first: Buffer): void {
    const upstream = connect({ port: targetPort, host: "127.0.0.1", noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      forwarded.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        forwarded.delete(from);
        to.destroy();
      });
    }
    upstream.write(first);
    client.pipe(upstream);
    upstream.pipe(client);
  }

  function obey(client: Socket, word: string): void {
    isCut = word === "cut!";
    if (isCut) {
      for (const socket of forwarded) socket.destroy();
    } else {
      for (const [waiting, first] of held) forward(waiting, first);
      held.clear();
    }
    client.end("done");
  }

  const server: Server = createServer({ noDelay: true }, (client) => {
    open.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => {
      open.delete(client);
      held.delete(client);
    });
    client.once("data", (first: Buffer) => {
      const word = first.toString("latin1", 0, 4);
      if (word === "cut!" || word === "join") obey(client, word);
      else if (isCut) {
        client.pause();
        held.set(client, first);
      } else forward(client, first);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
