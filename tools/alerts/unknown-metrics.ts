import { helpOf } from "@zooid/embedded-server/internal/admin/metric-help";
import { metricNamesOf } from "@zooid/embedded-server/internal/testing/dashboard-expressions";

/** Made by Prometheus itself. */
const OF_PROMETHEUS: ReadonlySet<string> = new Set(["up", "ALERTS"]);
/** Those of the Node process, by prom-client. */
const OF_PROCESS: ReadonlySet<string> = new Set([
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_external_memory_bytes",
  "nodejs_gc_duration_seconds",
  "nodejs_heap_size_used_bytes",
]);

/** Metrics of an expression that neither a server nor Prometheus has. */
export function unknownMetricsOf(expression: string): readonly string[] {
  return metricNamesOf(expression).filter((name) => {
    const family = name.replace(/_(?:sum|count|bucket)$/, "");
    return ![name, family].some((each) => OF_PROMETHEUS.has(each) || OF_PROCESS.has(each) || helpOf(each, true));
  });
}
