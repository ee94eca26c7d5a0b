import { Backoff } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";

/** Whether the ports for clients are bound. */
export type DoorAccess = "open" | "closed";

export interface ClientDoorOptions {
  readonly ports: {
    close(): void;
    open(): Promise<void>;
  };
  /** The ports are open, or closed. */
  moved(access: DoorAccess): void;
  error(text: string, fields: LogFields): void;
  /** Between attempts to open a port that cannot be bound. Default: 50 ms, up to 5 s. */
  readonly retryMs?: number;
}

const RETRY_MS_LEAST = 50;
const RETRY_MS_MOST = 5000;

/**
 * Closes and opens the ports for clients as the configuration of the ensemble says. A port that is
 * closed refuses connections, so that clients and load balancers turn to another server at once.
 */
export class ClientDoor {
  readonly #options: ClientDoorOptions;
  readonly #backoff: Backoff;
  #wanted: DoorAccess = "open";
  #access: DoorAccess = "open";
  #opening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #isStopped = false;

  constructor(options: ClientDoorOptions) {
    const { retryMs } = options;
    this.#options = options;
    this.#backoff = new Backoff({
      leastMs: retryMs ?? RETRY_MS_LEAST,
      mostMs: retryMs ?? RETRY_MS_MOST,
      jitter: 0,
      random: () => 0,
    });
  }

  /** Whether clients are accepted now. */
  get access(): DoorAccess {
    return this.#access;
  }

  /** Why the ports are not open though they should be; none where they are. */
  get problems(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem];
  }

  /** @returns when the ports are open or closed, or could not be opened for now */
  async follow(access: DoorAccess): Promise<void> {
    this.#wanted = access;
    if (access === "closed") {
      this.#close();
      return;
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#problem = undefined;
    if (this.#access === "closed") return;
    this.#options.ports.close();
    this.#access = "closed";
    this.#options.moved("closed");
  }

  async #open(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#access === "open" || this.#isStopped) return;
    const { error, moved, ports } = this.#options;
    try {
      await ports.open();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const isNew = this.#problem === undefined;
      this.#problem = `the port for clients cannot be opened: ${reason}`;
      if (isNew) error(`${this.#problem}, and it is tried again`, { event: "client-port-not-opened" });
      if (this.#isStopped || this.#wanted === "closed") return;
      this.#timer = setTimeout(() => void this.follow(this.#wanted), this.#backoff.nextDelayMs());
      this.#timer.unref();
      return;
    }
    this.#backoff.reset();
    this.#problem = undefined;
    // The configuration may have changed while the ports were bound.
    if (this.#wanted === "closed") ports.close();
    else {
      this.#access = "open";
      moved("open");
    }
  }
}
