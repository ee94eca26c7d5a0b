import { spawn } from "node:child_process";
import { once } from "node:events";
import type { PlannedEvent, TimelineEvent } from "../results/timeline.ts";

/** Runs commands at their times. Those that are not due when it is stopped are left out. */
export class EventScript {
  readonly #planned: readonly PlannedEvent[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #begun: Promise<TimelineEvent>[] = [];
  #isStarted = false;

  constructor(planned: readonly PlannedEvent[]) {
    this.#planned = planned;
  }

  /** Starts the time; a second call has no effect. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const startMs = performance.now();
    for (const planned of this.#planned) {
      this.#timers.push(setTimeout(() => this.#begun.push(perform(planned, startMs)), planned.atMs));
    }
  }

  /** @returns the started commands, once they have ended, in the order of their times */
  async stop(): Promise<readonly TimelineEvent[]> {
    for (const timer of this.#timers) clearTimeout(timer);
    return Promise.all(this.#begun);
  }
}

async function perform({ label, command }: PlannedEvent, startMs: number): Promise<TimelineEvent> {
  const atMs = performance.now() - startMs;
  // In a process group of its own: an interrupt of the bench must not reach the servers that it
  // starts.
  const shell = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "ignore", "inherit"], detached: true });
  const failure = await once(shell, "exit").then(
    ([status]) => (status === 0 ? undefined : `ended with status ${String(status)}`),
    (error: unknown) => String(error),
  );
  return { atMs, label, failure };
}
