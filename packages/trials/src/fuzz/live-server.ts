import { once } from "node:events";
import { connect } from "node:net";
import { JuteWriter } from "@zooid/conformance/internal/jute";
import { create, OP, read, Transcript, Wire } from "@zooid/conformance/internal/wire";
import { startServer, type ZooidServer } from "@zooid/embedded-server";

/** After this many inputs another client checks that its data are unchanged. */
const INPUTS_PER_LOOK = 25;
const KEPT = "/kept";

/** A server in memory that gets hostile input, while another client uses it. */
export class LiveServer {
  readonly #server: ZooidServer;
  readonly #bystander: Wire;
  readonly #lines: string[];
  readonly #failure: () => unknown;
  #inputs = 0;

  private constructor(server: ZooidServer, bystander: Wire, lines: string[], failure: () => unknown) {
    this.#server = server;
    this.#bystander = bystander;
    this.#lines = lines;
    this.#failure = failure;
  }

  static async start(): Promise<LiveServer> {
    let failure: unknown;
    const server = await startServer({
      port: 0,
      connectionsPerAddressMax: 0,
      fourLetterWords: "*",
      admin: { port: 0 },
      onFailure: (error) => {
        failure = error;
      },
    });
    const lines: string[] = [];
    const bystander = new Wire(`127.0.0.1:${server.port}`, new Transcript((line) => lines.push(line)));
    await bystander.handshake("hello", { timeoutMs: 40_000 });
    await bystander.ask("create", OP.create, create(KEPT, { data: "as it was", acl: [[1, "world", "anyone"]] }));
    return new LiveServer(server, bystander, lines, () => failure);
  }

  /** Sends bytes to the client port; with a session before them where that is wanted. */
  async toClientPort(input: Buffer, hasSession: boolean): Promise<void> {
    const hello = new JuteWriter().int(0).long(0n).int(4000).long(0n).buffer(Buffer.alloc(16)).bool(false).bytes();
    const before = hasSession ? [new JuteWriter().int(hello.length).bytes(), hello] : [];
    await this.#send(this.#server.port, Buffer.concat([...before, input]));
  }

  /** Sends bytes to the port for operators. */
  async toAdminPort(input: Buffer): Promise<void> {
    const { adminPort } = this.#server;
    if (adminPort === undefined) throw new Error("there is no admin port");
    await this.#send(adminPort, input);
  }

  async #send(port: number, input: Buffer): Promise<void> {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => socket.destroy());
    socket.resume();
    socket.end(input);
    // The server may wait for more: its answer to what is there has come when the bystander has
    // been answered.
    if (++this.#inputs % INPUTS_PER_LOOK === 0) await this.#look();
    else if (socket.connecting) await Promise.race([once(socket, "connect"), once(socket, "close")]);
  }

  async #look(): Promise<void> {
    this.#lines.length = 0;
    await this.#bystander.ask("look", OP.getData, read(KEPT));
    if (!this.#lines.some((line) => line.includes("error 0 'as it was'"))) throw new Error(this.#lines.join("\n"));
    if (this.#failure() !== undefined) throw new Error("the server has failed", { cause: this.#failure() });
  }
}
