import { type AdminView, modeOf, peerState } from "./admin-view.ts";
import { javaDecimal } from "./java-text.ts";
import type { Metric, Summary } from "./metric.ts";
import { metricsOf } from "./metrics.ts";

/** The values of `mntr` that are no numbers. */
export function facts(view: AdminView): readonly (readonly [name: string, value: string])[] {
  const { leader } = view.driver.replica.zab;
  const mode = modeOf(view);
  return [
    ["version", view.version],
    ["server_state", mode],
    ...(view.config.ensemble === undefined ? [] : ([["peer_state", peerState(view)]] as const)),
    ...(mode === "observer" && leader !== undefined ? ([["observer_master_id", String(leader)]] as const) : []),
  ];
}

/** Every metric by the names and texts of `mntr`, which JSON answers share. */
export function monitorValues(view: AdminView): readonly (readonly [name: string, value: string])[] {
  return metricsOf(view).flatMap(lines);
}

function lines(metric: Metric): readonly (readonly [string, string])[] {
  const { name } = metric;
  switch (metric.kind) {
    case "gauge":
    case "counter":
      return [[name, metric.isDecimal === true ? javaDecimal(metric.value) : String(metric.value)]];
    case "gauge set":
    case "counter set":
      return metric.values.map(([label, value]) => [`${label}_${name}`, String(value)]);
    case "summary":
      return summaryLines(name, metric.summary);
    case "advanced summary":
      return [...summaryLines(name, metric.summary), ...quantileLines(name, metric.summary)];
    case "histogram":
      return [];
  }
}

function summaryLines(name: string, { count, sum, min, max }: Summary): readonly (readonly [string, string])[] {
  return [
    [`avg_${name}`, javaDecimal(count === 0 ? 0 : sum / count)],
    ...(min === undefined ? [] : ([[`min_${name}`, String(min)]] as const)),
    ...(max === undefined ? [] : ([[`max_${name}`, String(max)]] as const)),
    [`cnt_${name}`, String(count)],
    [`sum_${name}`, String(sum)],
  ];
}

const QUANTILES = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
  ["p999", 0.999],
] as const;

function quantileLines(name: string, summary: Summary): readonly (readonly [string, string])[] {
  return QUANTILES.map(([prefix, share]) => [`${prefix}_${name}`, String(summary.quantile?.(share) ?? 0)]);
}
