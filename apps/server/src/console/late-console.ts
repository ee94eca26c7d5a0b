import type { IncomingMessage, ServerResponse } from "node:http";
import type { Console } from "@zooid/web-console";

type HandleArguments = Parameters<Console["handle"]>;

/** Paths below which the console answers. */
const OWN_PATHS = /^\/(console|api)(\/|\?|$)/;

/**
 * The console of a server, which needs the server's ports: requests that come before it is open
 * wait.
 */
export class LateConsole {
  #console: Console | undefined;
  #opening: Promise<void> | undefined;
  #isStopped = false;

  /**
   * Called once, when the server serves.
   *
   * @param load undefined: this server has no console
   */
  async open(load: () => Promise<Console | undefined>): Promise<Console | undefined> {
    const opening = load();
    this.#opening = opening.then(
      () => undefined,
      () => undefined,
    );
    const opened = await opening;
    if (this.#isStopped) await opened?.[Symbol.asyncDispose]();
    else this.#console = opened;
    return this.#console;
  }

  /** @returns whether the path is the console's */
  handle(...request: HandleArguments): boolean {
    if (this.#console !== undefined) return this.#console.handle(...request);
    const [message, response] = request;
    if (this.#opening === undefined || this.#isStopped || !OWN_PATHS.test(message.url ?? "")) return false;
    void this.#opening.then(() => {
      if (this.#console?.handle(...request) !== true) notFound(message, response);
    });
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#console?.[Symbol.asyncDispose]();
  }
}

function notFound({ method }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" });
  response.end(method === "HEAD" ? undefined : "there is no console here\n");
}
