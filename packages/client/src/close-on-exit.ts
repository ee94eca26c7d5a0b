import { constants } from "node:os";
import { checkClient, checkFit, type Rule, rules, type Shape, shape } from "@zooid/model";
import { startTimer } from "./calls/timers.ts";
import type { Client } from "./client.ts";

export interface CloseOnExitOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Longest time that the process waits for it, in milliseconds. Default 5000. */
  readonly graceMs?: number;
}

/** Processes are not informed of the other two. */
const signalNames = Object.keys(constants.signals).filter((name) => name !== "SIGKILL" && name !== "SIGSTOP");
const signalsRule: Rule = {
  expected: "an array of names of signals that a process can handle, such as SIGTERM",
  accepts: (value) => Array.isArray(value) && value.every((name) => signalNames.includes(name)),
};
const CLOSE_ON_EXIT: Shape<CloseOnExitOptions> = shape<CloseOnExitOptions>({
  signals: signalsRule,
  graceMs: rules.duration,
});

const SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];
const GRACE_MS = 5_000;

/**
 * Closes a client when the process gets a signal to terminate, so that its ephemeral nodes and
 * locks are removed at once instead of when its session expires. Then the process ends by that
 * signal, unless another listener handles it.
 *
 * @returns a handle that removes the listener; closing the client removes it too
 */
export function closeOnExit(client: Client, options: CloseOnExitOptions = {}): Disposable {
  checkClient("closeOnExit", client);
  checkFit("closeOnExit", options, CLOSE_ON_EXIT);
  const { signals = SIGNALS, graceMs = GRACE_MS } = options;
  const stop = (): void => {
    for (const signal of signals) process.off(signal, end);
    states.unsubscribe();
  };
  const end = (signal: NodeJS.Signals): void => {
    stop();
    const late = Promise.withResolvers<void>();
    const timer = startTimer(graceMs, late.resolve);
    Promise.race([client.close(), late.promise])
      .finally(() => {
        timer.cancel();
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      })
      // Closing a client does not fail.
      .catch(() => {});
  };
  for (const signal of signals) process.on(signal, end);
  const states = client.state$.subscribe({ complete: () => queueMicrotask(stop) });
  return { [Symbol.dispose]: stop };
}
