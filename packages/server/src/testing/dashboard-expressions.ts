/**
 * A dashboard or a set of alerts for ZooKeeper, and what it asks Prometheus for. Labels of the
 * target are left out.
 */
export interface Dashboard {
  readonly name: string;
  /**
   * Whether names are those of Apache's exporter, or those of `mntr` (`zk_…`), which other
   * exporters pass on.
   */
  readonly source: "metrics" | "mntr";
  readonly expressions: readonly string[];
}

export const DASHBOARDS: readonly Dashboard[] = [
  {
    name: "the alerts of Apache's monitoring guide",
    source: "metrics",
    expressions: [
      "up == 0",
      "znode_count > 1000000",
      "num_alive_connections > 50",
      "approximate_data_size / 1024 / 1024 > 1024",
      "watch_count > 10000",
      "increase(election_time_count[5m]) > 0",
      "open_file_descriptor_count > 300",
      "rate(fsynctime_sum[1m]) > 100",
      "rate(snapshottime_sum[5m]) > 100",
      "avg_latency > 100",
      'jvm_memory_bytes_used / jvm_memory_bytes_max{area="heap"} > 0.8',
    ],
  },
  {
    name: "Grafana's dashboard for Apache's exporter (10465)",
    source: "metrics",
    expressions: [
      "max(quorum_size)",
      "leader_uptime",
      "max(jvm_threads_current)",
      "max(jvm_threads_deadlocked)",
      "sum(num_alive_connections)",
      "max(open_file_descriptor_count)",
      "outstanding_requests",
      "max_latency",
      "avg_latency",
      "min_latency",
      "global_sessions",
      "local_sessions",
      "znode_count",
      "ephemerals_count",
      "approximate_data_size",
      "watch_count",
      "packets_received",
      "packets_sent",
      "num_alive_connections",
      "connection_rejected",
      "connection_drop_count",
      "unrecoverable_error_count",
      "digest_mismatches_count",
      "irate(election_time_sum[1m])",
      "max(learners)",
      "max(synced_observers)",
      "commit_count",
      "snap_count",
      "proposal_count",
      "irate(fsynctime_sum[1m])",
      "rate(snapshottime_sum[5m])",
      "jvm_memory_pool_bytes_used",
      "rate(jvm_gc_collection_seconds_count[5m])",
      "rate(jvm_pause_time_ms_sum[5m])",
    ],
  },
  {
    name: "the dashboard of ClickHouse's operator",
    source: "metrics",
    expressions: [
      ...["irate(znode_count[1m])", "irate(ephemerals_count[1m])", "global_sessions", "local_sessions"],
      ...["approximate_data_size", "irate(packets_received[1m])", "irate(packets_sent[1m])"],
      ...["irate(write_per_namespace_sum[1m])", "irate(read_per_namespace_sum[1m])"],
      ...["irate(response_packet_cache_hits[1m])", "irate(response_packet_cache_misses[1m])"],
      ...[
        "outstanding_requests",
        "avg_latency",
        "max_latency",
        "num_alive_connections",
        "watch_count",
        "leader_uptime",
      ],
    ],
  },
  {
    name: "alerts and dashboards of Kubernetes platforms",
    source: "metrics",
    expressions: [
      "open_file_descriptor_count / max_file_descriptor_count > 0.9",
      "increase(election_time_count[1m]) > 0",
      "global_sessions > 200",
      "sum(ephemerals_count) by (pod)",
      "max(quorum_size) - sum(up) == 0",
      "sum(leader_uptime > bool 0) == 0",
      "rate(fsynctime_sum[5m]) / rate(fsynctime_count[5m]) > 100",
      "synced_followers < quorum_size - 1",
      "rate(auth_failed_count[5m]) > 0",
    ],
  },
  {
    name: "the dashboard of an exporter of mntr (9236)",
    source: "mntr",
    expressions: [
      ...["zk_num_alive_connections", "zk_outstanding_requests", "zk_avg_latency", "zk_max_latency", "zk_min_latency"],
      ...["zk_znode_count", "zk_watch_count", "zk_ephemerals_count", "zk_approximate_data_size"],
      ...["zk_open_file_descriptor_count", "zk_max_file_descriptor_count", "rate(zk_packets_received[1m])"],
      ...["rate(zk_packets_sent[1m])", "zk_server_state", "zk_version", "zk_synced_followers", "zk_pending_syncs"],
      ...["zk_learners", "zk_quorum_size", "zk_leader_uptime"],
    ],
  },
];

/** Series that this server does not have; docs/operations.md says why. */
export const MISSING: ReadonlySet<string> = new Set(["write_per_namespace_sum", "read_per_namespace_sum"]);

/** A name with matchers of labels, of one expression. */
export interface Selector {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

const WORDS = new Set(["rate", "irate", "increase", "sum", "max", "by", "bool", "or", "pod"]);

/**
 * The selectors of an expression as above: names that are no functions, each with its matchers of
 * equality.
 */
export function selectorsOf(expression: string): readonly Selector[] {
  const found = expression.matchAll(/\b([a-z_]\w*)(?:\{([^}]*)\})?(?![\w(])/g);
  return [...found]
    .map(([, name = "", matchers = ""]) => ({
      name,
      labels: new Map([...matchers.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value])),
    }))
    .filter(({ name }) => !WORDS.has(name) && !/^[ms]$/.test(name));
}

const OPERATORS: ReadonlySet<string> = new Set(["and", "or", "unless", "bool"]);

/** Names of metrics of any expression of Prometheus' language, each once. */
export function metricNamesOf(expression: string): readonly string[] {
  const bare = expression
    .replace(/"[^"]*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\b(?:by|on|without|ignoring) ?\([^)]*\)/g, "");
  const words = [...bare.matchAll(/\b[A-Za-z_]\w*\b(?! *\()/g)].map(([word]) => word);
  return [...new Set(words.filter((word) => !OPERATORS.has(word)))];
}
