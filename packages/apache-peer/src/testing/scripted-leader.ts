import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { leader, zxidAt } from "./leader-packets.ts";
import { type SentPacket, SentPackets } from "./sent-packets.ts";

/** An observer's connection, as a leader sees it. */
export class ScriptedLink {
  readonly socket: Socket;
  readonly #sent = new SentPackets();
  readonly #waiting: SentPacket[] = [];
  #wanted: PromiseWithResolvers<SentPacket> | undefined;
  /** A packet that the observer sent and must never send. */
  fault: unknown;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => this.#received(bytes));
  }

  send(...packets: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(packets));
  }

  /** The next packet of the observer. */
  async next(): Promise<SentPacket> {
    const packet = this.#waiting.shift();
    if (packet !== undefined) return packet;
    this.#wanted = Promise.withResolvers();
    return await this.#wanted.promise;
  }

  /** Reads OBSERVERINFO, names the epoch, and returns the position of ACKEPOCH. */
  async greet(epoch: number): Promise<bigint> {
    await this.next();
    this.send(leader.info(epoch));
    const { zxid } = await this.next();
    return zxid;
  }

  /** Ends the synchronization and takes both ACKs. */
  async serve(epoch: number): Promise<void> {
    this.send(leader.newLeader(epoch));
    await this.next();
    this.send(leader.upToDate());
    await this.next();
  }

  /** Continues behind the observer's position, with nothing new. */
  async establish(epoch: number): Promise<bigint> {
    const position = await this.greet(epoch);
    this.send(leader.diff(position));
    await this.serve(epoch);
    return position;
  }

  #received(bytes: Buffer): void {
    try {
      this.#waiting.push(...this.#sent.push(bytes));
    } catch (fault) {
      this.fault = fault;
      this.socket.destroy();
      return;
    }
    if (this.#wanted === undefined || this.#waiting.length === 0) return;
    this.#wanted.resolve(this.#waiting.shift() as SentPacket);
    this.#wanted = undefined;
  }
}

/** A port where observers are taken, and tests say what a leader sends. */
export class ScriptedLeader implements AsyncDisposable {
  readonly #server: Server;
  readonly #links: ScriptedLink[] = [];
  readonly #waiting: ScriptedLink[] = [];
  #wanted: PromiseWithResolvers<ScriptedLink> | undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      const link = new ScriptedLink(socket);
      this.#links.push(link);
      this.#waiting.push(link);
      if (this.#wanted === undefined) return;
      this.#wanted.resolve(this.#waiting.shift() as ScriptedLink);
      this.#wanted = undefined;
    });
  }

  static async start(server: Server = createServer()): Promise<ScriptedLeader> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ScriptedLeader(server);
  }

  get hosts(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next connection. */
  async link(): Promise<ScriptedLink> {
    const link = this.#waiting.shift();
    if (link !== undefined) return link;
    this.#wanted = Promise.withResolvers();
    return await this.#wanted.promise;
  }

  /** Ends all connections. @throws what an observer sent and must never send */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#links) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
    for (const { fault } of this.#links) if (fault !== undefined) throw fault;
  }
}

export const AT_3: bigint = zxidAt(5, 3);
