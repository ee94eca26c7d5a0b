import { quantile } from "@zooid/model/testing/quantile";
import type { Done } from "./measured-client.ts";

export interface LoopOptions {
  /** Number of requests in flight, always. */
  readonly window: number;
  /** Time or number of requests after which the loop ends. */
  readonly limit: { readonly milliseconds: number } | { readonly requests: number };
  /** Sends request number `index`. */
  ask(index: number, done: Done): void;
  /** How many bytes of data each answer must bring; undefined for none. */
  readonly dataBytes?: number | undefined;
}

export interface LoopResult {
  readonly count: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU time of this process with all its threads, user and system. */
  readonly cpuSeconds: number;
}

/**
 * Keeps a window of requests in flight, and measures each from its call to its answer.
 *
 * @throws the first error that a request met
 */
export async function runLoop({ window, limit, ask, dataBytes }: LoopOptions): Promise<LoopResult> {
  let latencies = new Float64Array(2 ** 20);
  let answered = 0;
  let asked = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = "milliseconds" in limit ? startMs + limit.milliseconds : Number.POSITIVE_INFINITY;
  const requestsMax = "requests" in limit ? limit.requests : Number.POSITIVE_INFINITY;

  const askNext = (): void => {
    const sentMs = performance.now();
    if (sentMs >= endMs || asked >= requestsMax) {
      if (answered === asked) resolve();
      return;
    }
    ask(asked++, (error, bytes) => {
      if (error !== undefined && error !== null) return reject(error);
      if (bytes !== dataBytes) return reject(new Error(`${bytes} bytes of data came, ${dataBytes} were expected`));
      if (answered === latencies.length) latencies = grown(latencies);
      latencies[answered++] = performance.now() - sentMs;
      askNext();
    });
  };
  for (let i = 0; i < window; i++) askNext();
  await promise;

  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = latencies.subarray(0, answered).sort();
  return {
    count: answered,
    seconds,
    p50Us: quantile(sorted, 0.5) * 1000,
    p99Us: quantile(sorted, 0.99) * 1000,
    cpuSeconds: (user + system) / 1e6,
  };
}

function grown(latencies: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(latencies.length * 2);
  larger.set(latencies);
  return larger;
}
