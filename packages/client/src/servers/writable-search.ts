import { startTimer, type Timer } from "../calls/timers.ts";
import type { Transport, TransportConnection } from "../transport/transport.ts";
import type { HostAddress } from "./connect-string.ts";
import type { HostProvider } from "./host-list.ts";

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 60_000;
/** The four-letter word that asks for the mode; the answer is `rw` or `ro`. */
const QUESTION = Buffer.from("isro");
const ANSWER = "rw";

interface WritableSearchParts {
  readonly hosts: HostProvider;
  readonly transport: Transport;
  /** Time limit of one answer. */
  readonly timeoutMs: number;
  /** Called at most once for each {@link WritableSearch.start}. */
  found(address: HostAddress): void;
}

/**
 * Searches for a writable server while the client is connected to a read-only one: asks the others
 * one after the other, repeatedly, with growing pauses.
 */
export class WritableSearch {
  readonly #parts: WritableSearchParts;
  #timer: Timer | undefined;
  #pauseMs = PAUSE_MS_MIN;
  /** Names and addresses that are still to be asked in this round. */
  #names: HostAddress[] = [];
  #addresses: HostAddress[] = [];
  #connection: TransportConnection | undefined;
  /** Number of the search: answers to an earlier one are ignored. */
  #generation = 0;
  #isOn = false;

  constructor(parts: WritableSearchParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#pauseMs = PAUSE_MS_MIN;
    this.#pause();
  }

  stop(): void {
    this.#isOn = false;
    this.#turn();
    this.#names = [];
    this.#addresses = [];
  }

  /** Invalidates everything that was begun before. */
  #turn(): number {
    this.#timer?.cancel();
    this.#connection?.destroy();
    this.#connection = undefined;
    return ++this.#generation;
  }

  #pause(): void {
    this.#turn();
    this.#timer = startTimer(this.#pauseMs, () => this.#next());
    this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
  }

  /** Asks the next address, or the first one of the next name. */
  #next(): void {
    const generation = this.#turn();
    const isMine = (): boolean => generation === this.#generation;
    const address = this.#addresses.shift();
    if (address !== undefined) {
      this.#ask(address, isMine);
      return;
    }
    if (this.#names.length === 0) this.#names = hostsOf(this.#parts.hosts);
    const name = this.#names.shift();
    if (name === undefined) {
      this.#pause();
      return;
    }
    new Promise<readonly HostAddress[]>((found) => found(this.#parts.transport.resolve(name))).then(
      (addresses) => {
        if (!isMine()) return;
        this.#addresses = [...addresses];
        if (addresses.length === 0) this.#pause();
        else this.#next();
      },
      () => {
        if (isMine()) this.#pause();
      },
    );
  }

  #ask(address: HostAddress, isMine: () => boolean): void {
    let answer = "";
    let connection: TransportConnection | undefined;
    const over = (): void => {
      if (!isMine()) return;
      if (answer !== ANSWER) {
        this.#pause();
        return;
      }
      this.stop();
      this.#parts.found(address);
    };
    this.#timer = startTimer(this.#parts.timeoutMs, over);
    try {
      connection = this.#parts.transport.connect(address, {
        opened: () => {
          if (isMine()) connection?.write(QUESTION, () => {});
        },
        data: (chunk) => {
          answer += chunk.toString("latin1");
          if (answer.length >= ANSWER.length) over();
        },
        drained: () => {},
        closed: over,
      });
      this.#connection = connection;
    } catch {
      over();
    }
  }
}

/** The provider is the user's: when it throws, there is no server to ask now. */
function hostsOf(provider: HostProvider): HostAddress[] {
  try {
    return [...provider.hosts()];
  } catch {
    return [];
  }
}
