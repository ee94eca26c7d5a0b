import type { Bench } from "../bench.ts";
import { type BenchConfig, workersFor } from "../bench-config.ts";
import type { Host } from "../connections/hosts.ts";
import type { RequestTemplate } from "../connections/request-template.ts";
import { sumErrors } from "../load/error-counts.ts";
import { EventScript } from "../load/event-script.ts";
import { type Loop, MEASURED_PART, type RequestOutcome } from "../load/request-load.ts";
import { mergeCounts } from "../results/latency-summary.ts";
import type { Measurement } from "../results/measurement.ts";
import { type PlannedEvent, timelineOf } from "../results/timeline.ts";

/**
 * As many requests unanswered as 64 connections with 16 each have, on fewer sockets: a system call
 * moves more of them, for the server as for the generator, which so stays well above what it
 * measures.
 */
export const CONNECTIONS = 16;
export const IN_FLIGHT = 64;
export const PAYLOAD_BYTES = 1024;
/**
 * Requests of an open loop that may be unanswered before it waits, which does not change when they
 * were due.
 */
const OPEN_IN_FLIGHT_MAX = 1_000_000;

/** A point that is a mix of requests. */
export interface RequestPoint {
  readonly point: string;
  /** Default: the workload's only line. */
  readonly series?: string;
  readonly x: number;
  readonly hosts: readonly Host[];
  readonly mix: readonly { readonly template: RequestTemplate; readonly weight: number }[];
  /** Nodes that the templates choose from. Default: the configured number. */
  readonly nodes?: number;
  readonly counterFrom?: number;
  /** Caps what is unanswered in all. */
  readonly bytesInFlightMax?: number;
  readonly frameBytes?: number;
  readonly notes?: readonly string[];
  /**
   * Count by slices, let connections move on to the next server, and do things to the servers
   * meanwhile.
   */
  readonly timeline?: { readonly sliceMs: number; readonly events: readonly PlannedEvent[] };
}

/** @returns the measurement, and where the connections' counters stand */
export async function measureRequests(
  bench: Bench,
  {
    point,
    series = "",
    x,
    hosts,
    mix,
    nodes,
    counterFrom = 0,
    bytesInFlightMax,
    frameBytes = 0,
    notes = [],
    timeline,
  }: RequestPoint,
): Promise<{ readonly measurement: Measurement; readonly counterEnd: number }> {
  const { config } = bench;
  const cap =
    bytesInFlightMax === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, Math.floor(bytesInFlightMax / Math.max(1, frameBytes)));
  const connections = Math.min(config.connections ?? CONNECTIONS, cap);
  const loop = loopOf(config, Math.max(1, Math.min(config.inFlight ?? IN_FLIGHT, Math.floor(cap / connections))));
  const script = new EventScript(timeline?.events ?? []);
  const outcomes = await bench.run(
    {
      kind: "requests",
      hosts,
      connections,
      loop,
      templates: mix.map(({ template }) => template),
      weights: mix.map(({ weight }) => weight),
      nodes: nodes ?? config.nodes,
      counterFrom,
      warmupMs: config.warmupMs,
      durationMs: config.durationMs,
      sessionTimeoutMs: config.sessionTimeoutMs,
      seed: config.seed,
      ...(timeline === undefined ? {} : { sliceMs: timeline.sliceMs, movesOn: true }),
    },
    {
      name: point,
      workers: workersFor(config, connections),
      expectedMs: config.warmupMs + config.durationMs,
      unit: "requests",
      onPart: (part) => {
        if (part === MEASURED_PART) script.start();
      },
    },
  );
  const events = await script.stop();
  const kinds = [...new Set(mix.map(({ template }) => template.kind))];
  const ofKind = (kind: string): readonly Int32Array[] =>
    outcomes.flatMap(({ latencies }) => latencies.filter((_, i) => mix[i]?.template.kind === kind));
  const reconnects = sum(outcomes, ({ reconnects }) => reconnects);
  const requests = sum(outcomes, ({ answered }) => answered.reduce((a, b) => a + b, 0));
  const measurement: Measurement = {
    point,
    series,
    x,
    loop: describeLoop(loop, connections),
    isBlind: loop.kind === "closed",
    value: requests / (config.durationMs / 1000),
    unit: "requests/s",
    better: "higher",
    latencies: Object.fromEntries([
      ...(kinds.length > 1 ? [["all", mergeCounts(outcomes.flatMap(({ latencies }) => latencies))] as const] : []),
      ...kinds.map((kind) => [kind, mergeCounts(ofKind(kind))] as const),
    ]),
    lag: loop.kind === "open" ? mergeCounts(outcomes.map(({ lag }) => lag)) : undefined,
    requests,
    errors: sumErrors(outcomes.map(({ errors }) => errors)),
    generator: outcomes.map(({ generator }) => generator),
    judgedBy: loop.kind === "closed" ? "utilisation" : "lag",
    figures: reconnects > 0 ? { reconnects } : {},
    notes,
    ...(timeline === undefined
      ? {}
      : {
          timeline: timelineOf(
            outcomes.flatMap(({ slices }) => slices ?? []),
            { kinds: mix.map(({ template }) => template.kind), sliceMs: timeline.sliceMs, events },
          ),
        }),
  };
  return { measurement, counterEnd: Math.max(...outcomes.map(({ counterEnd }) => counterEnd)) };
}

function loopOf({ ratePerSecond, arrivals }: BenchConfig, inFlight: number): Loop {
  if (ratePerSecond === undefined) return { kind: "closed", inFlight };
  return { kind: "open", ratePerSecond, arrivals, inFlightMax: OPEN_IN_FLIGHT_MAX };
}

function describeLoop(loop: Loop, connections: number): string {
  if (loop.kind === "closed") return `closed loop, ${connections} × ${loop.inFlight}`;
  return `open loop, ${loop.ratePerSecond}/s ${loop.arrivals}, ${connections} connections`;
}

function sum(outcomes: readonly RequestOutcome[], of: (outcome: RequestOutcome) => number): number {
  return outcomes.reduce((total, outcome) => total + of(outcome), 0);
}
