import { spawn } from "node:child_process";
import { once } from "node:events";
import type { PlannedEvent, TimelineEvent } from "../results/timeline.ts";

/** Runs commands at their times. Those whose time has not come when it is stopped are left out. */
export class EventScript {
  readonly #planned: readonly PlannedEvent[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #begun: Promise<TimelineEvent>[] = [];
  #isStarted = false;

  constructor(planned: readonly PlannedEvent[]) {
    this.#planned = planned;
  }

  /** The time begins now; starting it again changes nothing. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const startMs = performance.now();
    for (const planned of this.#planned) {
      this.#timers.push(setTimeout(() => this.#begun.push(perform(planned, startMs)), planned.atMs));
    }
  }

  /** @returns what was begun, once it has ended, in the order of its time */
  async stop(): Promise<readonly TimelineEvent[]> {
    for (const timer of this.#timers) clearTimeout(timer);
    return Promise.all(this.#begun);
  }
}

async function perform({ label, command }: PlannedEvent, startMs: number): Promise<TimelineEvent> {
  const atMs = performance.now() - startMs;
  // In a group of its own: an interrupt that is meant for the bench must not reach the servers that it starts.
  const shell = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "ignore", "inherit"], detached: true });
  const failure = await once(shell, "exit").then(
    ([status]) => (status === 0 ? undefined : `ended with status ${String(status)}`),
    (error: unknown) => String(error),
  );
  return { atMs, label, failure };
}
