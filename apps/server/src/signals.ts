import { isatty } from "node:tty";

/** Signals that ask the process for something. */
export type Asking = "SIGHUP" | "SIGUSR1";

/**
 * Takes the signals that ask for an answer from the first moment on: without a listener SIGHUP would end the process, and SIGUSR1 would open
 * Node.js's inspector. A start may wait for a name to resolve or for the other members: signals that arrive meanwhile are answered when it has ended.
 */
export class AskingSignals {
  readonly #isTerminal = process.stdout.isTTY;
  readonly #asked = new Set<Asking>();
  #answer: ((signal: Asking) => void) | undefined;

  constructor() {
    process.on("SIGHUP", () => {
      // A terminal that is closed sends the same signal.
      if (this.#isTerminal && !isatty(process.stdout.fd)) process.kill(process.pid, "SIGTERM");
      else this.#take("SIGHUP");
    });
    process.on("SIGUSR1", () => this.#take("SIGUSR1"));
  }

  /** From now on signals are answered at once, and those that came before now. */
  answerBy(answer: (signal: Asking) => void): void {
    this.#answer = answer;
    for (const signal of this.#asked) answer(signal);
    this.#asked.clear();
  }

  #take(signal: Asking): void {
    if (this.#answer === undefined) this.#asked.add(signal);
    else this.#answer(signal);
  }
}
