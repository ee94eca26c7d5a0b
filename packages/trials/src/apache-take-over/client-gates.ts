/** Ports for clients in front of Apache's servers, which a take-over's command closes and opens. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

interface Gate {
  readonly port: number;
  readonly target: number;
  readonly sockets: Set<Socket>;
  server: Server | undefined;
}

export class ClientGates implements AsyncDisposable {
  readonly #gates: readonly Gate[];

  private constructor(gates: readonly Gate[]) {
    this.#gates = gates;
  }

  static async to(targets: readonly number[], ports: readonly number[]): Promise<ClientGates> {
    const gates = new ClientGates(
      targets.map((target, i) => ({ port: ports[i] ?? 0, target, sockets: new Set(), server: undefined })),
    );
    await Promise.all(targets.map((target) => gates.open(target)));
    return gates;
  }

  get hosts(): string {
    return this.#gates.map(({ port }) => `127.0.0.1:${port}`).join(",");
  }

  /** Connections to the gate of a server are taken. */
  async open(target: number): Promise<void> {
    const gate = this.#of(target);
    if (gate.server !== undefined) return;
    const server = createServer({ noDelay: true }, (client) => forward(client, gate));
    gate.server = server;
    server.listen(gate.port, "127.0.0.1");
    await once(server, "listening");
  }

  /** Connections to the gate of a server are refused, and those that exist end, on both ends. */
  async close(target: number): Promise<void> {
    const gate = this.#of(target);
    const { server } = gate;
    gate.server = undefined;
    for (const socket of gate.sockets) socket.destroy();
    if (server === undefined) return;
    server.close();
    await once(server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#gates.map(({ target }) => this.close(target)));
  }

  #of(target: number): Gate {
    const gate = this.#gates.find((each) => each.target === target);
    if (gate === undefined) throw new Error(`no server has the port ${target}`);
    return gate;
  }
}

function forward(client: Socket, { target, sockets }: Gate): void {
  const server = connect({ port: target, host: "127.0.0.1", noDelay: true });
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    sockets.add(from);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
