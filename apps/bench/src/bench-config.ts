import { availableParallelism } from "node:os";
import { formatHost, type Host, isLoopback } from "./connections/hosts.ts";
import type { Arrivals } from "./load/arrivals.ts";
import type { PlannedEvent } from "./results/timeline.ts";
import { UsageError } from "./usage-error.ts";

/** The configuration of a run. Undefined fields have defaults of each workload, in its file. */
export interface BenchConfig {
  /** One list for each ensemble; most workloads take one. */
  readonly hosts: readonly (readonly Host[])[];
  /** All nodes are created below it, in a node of the run's own, and removed afterwards. */
  readonly root: string;
  readonly connections?: number | undefined;
  /** Closed loop: unanswered requests of each connection. */
  readonly inFlight?: number | undefined;
  /** Requests per second; a rate makes the loop open. */
  readonly ratePerSecond?: number | undefined;
  readonly arrivals: Arrivals;
  readonly payloadBytes?: number | undefined;
  readonly nodes: number;
  /** Shares of reads, in percent. */
  readonly ratios?: readonly number[] | undefined;
  /** Payloads, watches, or sizes of trees, depending on the workload. */
  readonly sizes?: readonly number[] | undefined;
  readonly seed: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly repeats: number;
  readonly workers?: number | undefined;
  readonly sessionTimeoutMs: number;
  readonly sessions: number;
  readonly idleMs: number;
  readonly ephemerals: number;
  /** Number of contenders, members, or putters and takers. */
  readonly contenders?: readonly number[] | undefined;
  /** With or without a queue; undefined for both. */
  readonly kind?: "fair" | "unfair" | undefined;
  /** More errors than this fail the run. */
  readonly errorPercentMax: number;
  readonly allowRemote: boolean;
  readonly restartCommand?: string | undefined;
  /** Events on the servers, in the order of their times. */
  readonly events: readonly PlannedEvent[];
  readonly sliceMs: number;
  /** The process whose memory and CPU time are read, if it is on this machine. */
  readonly serverPid?: number | undefined;
}

export const DEFAULTS: BenchConfig = Object.freeze({
  hosts: [],
  root: "/zooid-bench",
  arrivals: "constant",
  nodes: 1000,
  seed: 1,
  warmupMs: 5000,
  durationMs: 10_000,
  repeats: 1,
  sessionTimeoutMs: 30_000,
  sessions: 1000,
  idleMs: 5000,
  ephemerals: 10,
  errorPercentMax: 1,
  allowRemote: false,
  events: [],
  sliceMs: 100,
});

/** Placeholders for digits in templates, and characters that no path may contain. */
const ROOT_PATH = /^(\/[^/#%@\p{Cc}]+)+$/u;
/** Digits in a node's name. */
const NODES_MAX = 10_000_000;
const WORKERS_MAX = 64;
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** Fills in the defaults and reports all problems in one error. */
export function parseBenchConfig(given: Partial<BenchConfig>): BenchConfig {
  const config = Object.freeze({ ...DEFAULTS, ...given });
  const problems = [
    ...rangeProblems(config),
    ...remoteProblems(config),
    ...(ROOT_PATH.test(config.root) && !config.root.split("/").some((name) => name === "." || name === "..")
      ? []
      : [`--root is a path below / without #, % and @, found "${config.root}"`]),
    ...(config.ratePerSecond !== undefined && config.inFlight !== undefined
      ? ["--rate makes the loop open and --in-flight belongs to a closed one: give one of them"]
      : []),
    ...(config.ratePerSecond === undefined && config.arrivals === "poisson"
      ? ["--arrivals poisson needs a --rate: without one the loop is closed"]
      : []),
  ];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return config;
}

function rangeProblems(config: BenchConfig): readonly string[] {
  const ranges: readonly (readonly [
    flag: string,
    values: readonly (number | undefined)[],
    least: number,
    most: number,
  ])[] = [
    ["--connections", [config.connections], 1, 60_000],
    ["--in-flight", [config.inFlight], 1, 100_000],
    ["--rate", [config.ratePerSecond], 0.01, 10_000_000],
    ["--payload", [config.payloadBytes], 0, PAYLOAD_BYTES_MAX],
    ["--nodes", [config.nodes], 1, NODES_MAX],
    ["--ratio", config.ratios ?? [], 0, 100],
    ["--sizes", config.sizes ?? [], 0, 100_000_000],
    ["--repeats", [config.repeats], 1, 1000],
    ["--workers", [config.workers], 1, WORKERS_MAX],
    ["--sessions", [config.sessions], 1, 1_000_000],
    ["--contenders", config.contenders ?? [], 1, 60_000],
    ["--ephemerals", [config.ephemerals], 1, 1000],
    ["--duration (milliseconds)", [config.durationMs], 1, 86_400_000],
    ["--warmup (milliseconds)", [config.warmupMs], 0, 86_400_000],
    ["--slice (milliseconds)", [config.sliceMs], 1, 60_000],
    ["--session-timeout (milliseconds)", [config.sessionTimeoutMs], 1000, 86_400_000],
    ["--max-errors (percent)", [config.errorPercentMax], 0, 100],
  ];
  return ranges.flatMap(([flag, values, least, most]) =>
    values
      .filter((value) => value !== undefined && !(value >= least && value <= most))
      .map((value) => `${flag} is between ${least} and ${most}, found ${value}`),
  );
}

function remoteProblems({ hosts, allowRemote }: BenchConfig): readonly string[] {
  const remote = hosts.flat().filter((host) => !isLoopback(host));
  if (allowRemote || remote.length === 0) return [];
  return [
    `${remote.map(formatHost).join(", ")} is not this machine, and the load may harm other users of it: confirm with --allow-remote`,
  ];
}

/**
 * Number of generator threads. One thread makes 1.5 million requests a second or more, far more
 * than a server answers, and each further one takes a core from a server on the same machine: so
 * half of the cores, and at most two by default.
 */
export function workersFor(config: BenchConfig, connections: number): number {
  return Math.min(connections, config.workers ?? Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2))));
}
