import type { ServerResponse } from "node:http";

const PING_MS = 15_000;

/**
 * Server-sent events to one browser. What the socket does not take is not queued: `send` says no,
 * and the caller sends a summary later.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #ping: NodeJS.Timeout;
  #needsDrain = false;
  #isLate = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Accel-Buffering": "no",
    });
    response.socket?.setTimeout(0);
    response.on("drain", () => {
      this.#needsDrain = false;
    });
    response.write("retry: 2000\n\n");
    this.#ping = setInterval(() => this.#pingOrEnd(), PING_MS).unref();
  }

  /** @returns whether the event was sent; false while the socket still has the last one */
  send(event: string, data: unknown): boolean {
    if (this.#needsDrain) return false;
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    return true;
  }

  end(): void {
    clearInterval(this.#ping);
    this.#response.end();
  }

  /** A browser that has taken nothing between two pings is gone, or does not read. */
  #pingOrEnd(): void {
    if (!this.#needsDrain) {
      this.#isLate = false;
      this.#write(": ping\n\n");
    } else if (this.#isLate) this.#response.destroy();
    else this.#isLate = true;
  }

  #write(text: string): void {
    this.#needsDrain = !this.#response.write(text);
  }
}
