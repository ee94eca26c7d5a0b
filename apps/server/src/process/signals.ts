import { isatty } from "node:tty";

/** Signals that ask the process for something. */
export type Asking = "SIGHUP" | "SIGUSR1";

/** The parts of the process that signals need. */
export interface SignalledProcess {
  readonly pid: number;
  readonly stdout: { readonly isTTY?: boolean; readonly fd: number };
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
  kill(pid: number, signal: NodeJS.Signals): unknown;
  exit(status: number): unknown;
}

/** The first process of a container, for which the kernel drops signals that have no listener. */
const INIT_PID = 1;

/**
 * Takes signals from the first moment of the process on:
 *
 * - Those that ask for an answer: without a listener SIGHUP would end the process, and SIGUSR1
 *   would open Node.js's inspector. A start may wait for a name to resolve or for the other
 *   members: signals that arrive meanwhile are answered when it has ended.
 * - SIGTERM and SIGINT, where the process is a container's first one and the kernel would drop
 *   them: they end it at once, as they end any other process that has no listener yet. Nothing is
 *   lost: no client has been answered.
 */
export class StartSignals {
  readonly #process: SignalledProcess;
  readonly #isTerminal: boolean;
  readonly #asked = new Set<Asking>();
  readonly #taken: (readonly [signal: NodeJS.Signals, listener: () => void])[] = [];
  #answer: ((signal: Asking) => void) | undefined;

  constructor(signalled: SignalledProcess = process) {
    this.#process = signalled;
    this.#isTerminal = signalled.stdout.isTTY === true;
    this.#on("SIGHUP", () => {
      // A terminal that is closed sends the same signal.
      if (this.#isTerminal && !isatty(signalled.stdout.fd)) signalled.kill(signalled.pid, "SIGTERM");
      else this.#take("SIGHUP");
    });
    this.#on("SIGUSR1", () => this.#take("SIGUSR1"));
    if (signalled.pid !== INIT_PID) return;
    for (const signal of ["SIGTERM", "SIGINT"] as const) this.#on(signal, () => signalled.exit(0));
  }

  /**
   * The process is none of a server, or takes the signals that end it by another listener from now
   * on.
   */
  release(signals: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1", "SIGTERM", "SIGINT"]): void {
    for (const [signal, listener] of this.#taken) if (signals.includes(signal)) this.#process.off(signal, listener);
  }

  /** From now on signals are answered at once, and those that came before now. */
  answerBy(answer: (signal: Asking) => void): void {
    this.#answer = answer;
    for (const signal of this.#asked) answer(signal);
    this.#asked.clear();
  }

  #on(signal: NodeJS.Signals, listener: () => void): void {
    this.#process.on(signal, listener);
    this.#taken.push([signal, listener]);
  }

  #take(signal: Asking): void {
    if (this.#answer === undefined) this.#asked.add(signal);
    else this.#answer(signal);
  }
}
