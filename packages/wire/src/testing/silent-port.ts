import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A process that listens, and stops before it accepts. Its queue has room for two connections. */
const SCRIPT = `require("node:net").createServer().listen(0, "127.0.0.1", 1, function () {
  process.stdout.write(this.address().port + "\\n", () => process.kill(process.pid, "SIGSTOP"));
});`;
const QUEUED = 2;

/**
 * A port at which attempts to connect are neither taken nor refused, as at the address of a host
 * that is gone: the queue of its listener is full. Linux only.
 */
export class SilentPort implements AsyncDisposable {
  readonly port: number;
  readonly #end: () => Promise<void>;

  private constructor(port: number, end: () => Promise<void>) {
    this.port = port;
    this.#end = end;
  }

  static async open(): Promise<SilentPort> {
    const child = spawn(process.execPath, ["-e", SCRIPT], { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await once(child.stdout, "data");
    const port = Number(said);
    const queued: Socket[] = [];
    for (let i = 0; i < QUEUED; i++) {
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("error", () => {});
      await once(socket, "connect");
      queued.push(socket);
    }
    return new SilentPort(port, async () => {
      for (const socket of queued) socket.destroy();
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
