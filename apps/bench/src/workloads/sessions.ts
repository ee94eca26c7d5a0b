import type { Bench, Workload } from "../bench.ts";
import { serverMemory } from "../connections/server-facts.ts";
import { sumErrors } from "../load/error-counts.ts";
import { CLOSED_LOOP, type Measurement } from "../results/measurement.ts";
import { onlyHosts } from "./with-tree.ts";

const OPENING = 32;
const MEMORY_NOT_TOLD =
  "the server does not report its memory in mntr, or mntr is not allowed: --server-pid reads it from the process";
const MEMORY_NOT_GROWN = "the server's memory did not grow: what its sessions need lies in what it had already";

/** Many sessions opened, held idle, cut off and resumed all at once, closed. */
export const sessions: Workload = {
  name: "sessions",
  summary: "many sessions: opened, idle (memory), a storm of reconnects, closed (--sessions, --idle)",
  axis: { label: "open, storm, close", scale: "linear" },
  pretence: () => ({ payloadBytes: 0, children: 0 }),
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "sessions");
    const opening = config.inFlight ?? OPENING;
    const memory = { before: await memoryOf(), after: undefined as number | undefined };
    // Read near the end of the idle time: garbage of the opening has been collected by then,
    // where it ever is.
    let reading: Promise<void> = Promise.resolve();
    const timers: NodeJS.Timeout[] = [];
    const [outcome] = await bench.run(
      {
        kind: "sessions",
        hosts,
        sessions: config.sessions,
        opening,
        idleMs: config.idleMs,
        sessionTimeoutMs: config.sessionTimeoutMs,
      },
      {
        name: `${config.sessions} sessions`,
        workers: 1,
        expectedMs: undefined,
        unit: "sessions",
        onPart: (part) => {
          if (part !== "idle") return;
          const read = (): void => {
            reading = memoryOf().then((bytes) => {
              memory.after = bytes;
            });
          };
          timers.push(setTimeout(read, config.idleMs * 0.8));
        },
      },
    );
    for (const timer of timers) clearTimeout(timer);
    await reading;
    if (outcome === undefined) return;
    const errors = sumErrors([outcome.errors]);
    const isTold = memory.before !== undefined && memory.after !== undefined && outcome.opened > 0;
    const bytes = isTold ? ((memory.after ?? 0) - (memory.before ?? 0)) / outcome.opened : 0;
    yield {
      ...CLOSED_LOOP,
      unit: "sessions/s",
      point: "open",
      loop: `closed loop, ${opening} at a time`,
      value: perSecond(outcome.opened, outcome.openMs),
      latencies: { open: outcome.latencies.open },
      requests: outcome.opened,
      errors,
      generator: [outcome.generator.open],
      figures: {
        sessions: outcome.opened,
        ...(bytes > 0 ? { "bytes of the server per idle session": bytes } : {}),
      },
      notes: bytes > 0 ? [] : [isTold ? MEMORY_NOT_GROWN : MEMORY_NOT_TOLD],
    };
    yield {
      ...CLOSED_LOOP,
      unit: "sessions/s",
      point: "reconnect storm",
      x: 1,
      loop: `all ${outcome.opened} at once`,
      value: perSecond(outcome.resumed, outcome.stormMs),
      latencies: { "cut to resumed": outcome.latencies.storm },
      requests: outcome.resumed,
      errors: {},
      generator: [outcome.generator.storm],
      figures: { "ms until all were back": outcome.stormMs, retries: outcome.retries },
    };
    yield {
      ...CLOSED_LOOP,
      unit: "sessions/s",
      point: "close",
      x: 2,
      loop: `closed loop, ${opening} at a time`,
      value: perSecond(outcome.closed, outcome.closeMs),
      latencies: { close: outcome.latencies.close },
      requests: outcome.closed,
      errors: {},
      generator: [outcome.generator.close],
    };

    async function memoryOf(): Promise<number | undefined> {
      const [host] = hosts;
      return host === undefined ? undefined : serverMemory(host, config.serverPid);
    }
  },
};

function perSecond(count: number, ms: number): number {
  return ms === 0 ? 0 : count / (ms / 1000);
}
