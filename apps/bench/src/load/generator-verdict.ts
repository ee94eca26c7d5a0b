import { formatNumber, formatPercent } from "../results/format.ts";
import type { GeneratorLoad } from "./generator-gauge.ts";

/** The generator's own figures for one point. */
export interface GeneratorReport {
  /** Share of time for which the busiest thread's event loop worked. */
  readonly utilisation: number;
  /** Cores used by all threads, mean of the repeats. */
  readonly cpu: number;
  readonly stallMsP99: number;
  /** Open loop: delay of the requests. */
  readonly lagMsP99: number | undefined;
  /** Reasons to doubt that the figures are the server's; empty if there are none. */
  readonly doubts: readonly string[];
}

export type JudgedBy = "utilisation" | "lag" | "nothing";

export interface Evidence {
  /** The threads of each repeat. */
  readonly repeats: readonly (readonly GeneratorLoad[])[];
  readonly judgedBy: JudgedBy;
  readonly lagMsP99: number | undefined;
  /** The point's p99, in milliseconds. */
  readonly latencyMsP99: number | undefined;
}

const BUSY_MAX = 0.9;
const STALL_MS_MAX = 5;
const LAG_SHARE_MAX = 0.1;

/**
 * Whether the generator was the bottleneck: when a closed loop's thread was hardly ever idle, so
 * that answers waited for it; when an open loop's requests left late by more than a tenth of the
 * reported latency; or when its loop was blocked.
 */
export function judgeGenerator({ repeats, judgedBy, lagMsP99, latencyMsP99 }: Evidence): GeneratorReport {
  const threads = repeats.flat();
  const utilisation = Math.max(0, ...threads.map((thread) => thread.utilisation));
  const stallMsP99 = Math.max(0, ...threads.map((thread) => thread.stallMsP99));
  const doubts: string[] = [];
  if (judgedBy === "utilisation" && utilisation > BUSY_MAX)
    doubts.push(`its busiest thread worked ${formatPercent(utilisation)} of the time`);
  if (lagMsP99 !== undefined && latencyMsP99 !== undefined && lagMsP99 > LAG_SHARE_MAX * latencyMsP99) {
    doubts.push(`requests left ${formatNumber(lagMsP99)} ms late (p99), more than a tenth of the p99 latency`);
  }
  if (judgedBy !== "nothing" && stallMsP99 > STALL_MS_MAX)
    doubts.push(`its loop stood still for ${formatNumber(stallMsP99)} ms (p99)`);
  return {
    utilisation,
    cpu: threads.reduce((sum, { cpu }) => sum + cpu, 0) / Math.max(1, repeats.length),
    stallMsP99,
    lagMsP99,
    doubts,
  };
}
