import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Where the console of this process reads the tree of a server whose client port is closed: a
 * socket in the file system, in a folder that only this user may enter.
 */
export class ReadDoor implements AsyncDisposable {
  readonly path: string;
  readonly #folder: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();

  private constructor(folder: string, accept: (socket: Socket) => void) {
    this.#folder = folder;
    this.path = join(folder, "read");
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      accept(socket);
    });
  }

  static async open(accept: (socket: Socket) => void): Promise<ReadDoor> {
    const door = new ReadDoor(mkdtempSync(join(tmpdir(), "zooid-")), accept);
    door.#server.listen(door.path);
    await once(door.#server, "listening");
    return door;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
