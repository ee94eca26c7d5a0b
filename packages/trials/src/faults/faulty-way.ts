/**
 * A way to a port that can be refused, dropped or silent: it stands between two servers, and bytes
 * go through it while nothing is wrong.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@zooid/wire/testing/free-ports";

/**
 * Open; connections refused; packets lost, as beyond a firewall; connections accepted, and no byte
 * answered.
 */
export type WayState = "open" | "refused" | "dropped" | "silent";

const HOST = "127.0.0.1";
/** A connection on this machine takes less, unless its packets are dropped. */
const DROPPED_MS = 200;
/** More than the system keeps for a port with a queue of one. */
const QUEUE_FILL_MAX = 16;
/** Listens with a queue of one, and is stopped: the system drops what does not fit. */
const DEAF_LISTENER = `
  const server = require("node:net").createServer();
  server.listen({ host: process.argv[1], port: Number(process.argv[2]), backlog: 1 }, () => process.stdout.write("up"));
`;

export class FaultyWay implements AsyncDisposable {
  readonly port: number;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #deaf: ChildProcess | undefined;

  private constructor(port: number, target: { readonly host: string; readonly port: number }) {
    this.port = port;
    this.#target = target;
  }

  static async to(target: { readonly host: string; readonly port: number }): Promise<FaultyWay> {
    // While the way is refused no connection of another process may take its port.
    return new FaultyWay(await freePort(), target);
  }

  /** Ends what the way was, with every connection on it. */
  async become(state: WayState): Promise<void> {
    await this.#end();
    if (state === "dropped") await this.#deafen();
    else if (state !== "refused") await this.#listen(state === "silent");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #listen(isSilent: boolean): Promise<void> {
    const server = createServer((socket) => {
      this.#keep(socket);
      if (isSilent) {
        socket.resume();
        return;
      }
      const onward = this.#keep(connect(this.#target));
      socket.pipe(onward).pipe(socket);
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        one.on("close", () => other.destroy());
      }
    });
    server.listen(this.port, HOST);
    await once(server, "listening");
    this.#server = server;
  }

  async #deafen(): Promise<void> {
    const child = spawn(process.execPath, ["-e", DEAF_LISTENER, HOST, String(this.port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#deaf = child;
    if (child.stdout === null) throw new Error("a listener has an output");
    await once(child.stdout, "data");
    child.kill("SIGSTOP");
    for (let i = 0; i < QUEUE_FILL_MAX; i++) {
      const filler = this.#keep(connect({ host: HOST, port: this.port }));
      const isFull = await Promise.race([once(filler, "connect").then(() => false), delay(DROPPED_MS, true)]);
      if (isFull) return;
    }
    throw new Error(`the queue of port ${this.port} takes ${QUEUE_FILL_MAX} connections: nothing is dropped`);
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    return socket;
  }

  async #end(): Promise<void> {
    const [server, deaf] = [this.#server, this.#deaf];
    this.#server = undefined;
    this.#deaf = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== undefined) {
      server.close();
      await once(server, "close");
    }
    if (deaf !== undefined && deaf.exitCode === null) {
      deaf.kill("SIGKILL");
      await once(deaf, "exit");
    }
  }
}
