import { statfsSync } from "node:fs";
import { counterOf, EPOCH_MAX, epochOf, opName, type Zxid } from "@zooid/model";
import { Histogram } from "@zooid/replica";
import type { ServerConfig } from "../config.ts";
import { followMetrics } from "../following/follow-metrics.ts";
import { type AdminView, type CertificateFacts, modeOf } from "./admin-view.ts";
import { fileDescriptors } from "./file-descriptors.ts";
import { keptFor } from "./kept-reading.ts";
import { advancedSummary, counter, decimalGauge, gauge, type LabelledBuckets, type Metric, summary } from "./metric.ts";
import { quotaMetrics, quotaRefusals } from "./quota-metrics.ts";

/**
 * Stages that this server does not have: their names exist with empty values, so that no dashboard
 * has a gap.
 */
const NOTHING = new Histogram();
/** The system lists all of them: as many as there are clients. */
const descriptors = keptFor(1000, fileDescriptors);

/** Apache's names of stages, caches and limits that do not exist here; nothing counts them. */
const NO_SUCH_COUNTERS: readonly string[] = [
  ...["stale_requests", "stale_requests_dropped", "stale_replies", "throttled_ops", "request_throttle_wait_count"],
  ...["large_requests_rejected", "insecure_admin_count"],
  ...["ensemble_auth_success", "ensemble_auth_skip", "cnxn_closed_without_zk_server_running"],
  ...["diff_count", "revalidate_count", "quit_leading_due_to_disloyal_voter"],
  ...["prep_processor_request_queued", "sync_processor_request_queued", "request_commit_queued"],
  ...["outstanding_changes_queued", "outstanding_changes_removed", "requests_not_forwarded_to_commit_processor"],
  ...["skip_learner_request_to_next_processor_count", "unrecoverable_error_count", "digest_mismatches_count"],
  ...["add_dead_watcher_stall_time", "dead_watchers_queued", "dead_watchers_cleared"],
  ...["response_packet_cache_hits", "response_packet_cache_misses"],
  ...["response_packet_get_children_cache_hits", "response_packet_get_children_cache_misses"],
];
const NO_SUCH_SUMMARIES: readonly string[] = [
  ...["socket_closing_time"],
  ...["prep_processor_queue_size", "prep_process_time", "proposal_process_time"],
  ...["commit_process_time", "sync_processor_queue_size", "sync_process_time", "requests_in_session_queue"],
  ...["pending_session_queue_size", "reads_after_write_in_session_queue", "reads_issued_from_session_queue"],
  ...["session_queues_drained", "time_waiting_empty_pool_in_commit_processor_read_ms"],
  ...["write_batch_time_in_commit_processor", "concurrent_request_processing_in_commit_processor"],
  ...["read_commit_proc_req_queued", "write_commit_proc_req_queued", "commit_commit_proc_req_queued"],
  ...["read_commit_proc_issued", "write_commit_proc_issued", "learner_request_processor_queue_size"],
  ...["connection_token_deficit", "inflight_snap_count", "inflight_diff_count", "netty_queued_buffer_capacity"],
];
const NO_SUCH_ADVANCED: readonly string[] = [
  ...["propagation_latency", "proposal_latency", "proposal_ack_creation_latency", "commit_propagation_latency"],
  ...["quorum_ack_latency", "close_session_prep_time", "dead_watchers_cleaner_latency"],
  ...["prep_processor_queue_time_ms", "request_throttle_queue_time_ms", "read_commitproc_time_ms"],
  ...["write_commitproc_time_ms", "local_write_committed_time_ms", "server_write_committed_time_ms"],
  ...["read_final_proc_time_ms", "write_final_proc_time_ms", "om_proposal_process_time_ms"],
  ...["om_commit_process_time_ms", "sync_processor_queue_time_ms", "sync_processor_queue_and_flush_time_ms"],
  ...["sync_processor_queue_flush_time_ms", "jvm_pause_time_ms"],
];

const NOT_COUNTED: ReadonlySet<string> = new Set([...NO_SUCH_COUNTERS, ...NO_SUCH_SUMMARIES, ...NO_SUCH_ADVANCED]);

/** Whether a name has values here, and does not exist for Apache's dashboards only. */
export function isCounted(name: string): boolean {
  return !NOT_COUNTED.has(name);
}

/**
 * Every metric of this server, read at the moment of the call. The names are Apache's; ours begin
 * with `zooid_`. Metrics of the leader exist only on the leader: dashboards find the leader by
 * them.
 */
export function metricsOf(view: AdminView): readonly Metric[] {
  const fromStorage = [...view.storageMetrics()];
  const names = new Set(fromStorage.map(({ name }) => name));
  const absent = ["fsynctime", "snapshottime", "dbinittime", "startup_txns_loaded", "startup_txns_load_time"];
  return [
    ...gauges(view),
    ...ensembleGauges(view),
    ...quotaMetrics(view.driver.replica.tree),
    ...quotaRefusals(view.driver.replica.counters.quotaExceeded),
    ...counters(view),
    counter("snapshot_error_count", view.snapshots.snapshotErrors),
    counter("snapshot_rate_limited_count", view.snapshots.snapshotsLimited),
    counter("restore_error_count", view.snapshots.restoreErrors),
    counter("restore_rate_limited_count", view.snapshots.restoresLimited),
    summary("restore_time", view.snapshots.restoreMs),
    ...NO_SUCH_COUNTERS.map((name) => counter(name, 0)),
    ...fromStorage,
    // Where everything is in memory.
    ...[...absent, "startup_snap_load_time", "sync_processor_batch_size"]
      .filter((name) => !names.has(name))
      .map((name) => summary(name, NOTHING)),
    ...roleSummaries(view),
    ...fanOutSummaries(view),
    ...NO_SUCH_SUMMARIES.map((name) => summary(name, NOTHING)),
    advancedSummary("readlatency", view.driver.replica.counters.reads),
    advancedSummary("updatelatency", view.driver.replica.counters.writes),
    ...NO_SUCH_ADVANCED.map((name) => advancedSummary(name, NOTHING)),
    { kind: "counter set", name: "zooid_refusals_total", values: [...view.driver.refusals.counts] },
    { kind: "histogram", name: "zooid_request_seconds", values: requestBuckets(view) },
    ...certificateMetrics(view),
    { kind: "gauge set", name: "zooid_disk_free_bytes", values: diskFree(view) },
    ...replicationGauges(view),
    ...followMetrics(view.following()),
  ];
}

function certificateMetrics(view: AdminView): readonly Metric[] {
  const certificates = view.certificates();
  if (certificates.length === 0) return [];
  const set = (kind: "gauge set" | "counter set", name: string, of: (one: CertificateFacts) => number): Metric => ({
    kind,
    name,
    values: certificates.map((one) => [one.shownTo, of(one)] as const),
  });
  return [
    set("gauge set", "zooid_tls_certificate_not_after_seconds", ({ notAfter = Number.NaN }) => notAfter),
    set("counter set", "zooid_tls_reloads_total", ({ reloads }) => reloads.done),
    set("counter set", "zooid_tls_reload_failures_total", ({ reloads }) => reloads.failed),
  ];
}

function requestBuckets({ driver }: AdminView): readonly LabelledBuckets[] {
  return [...driver.replica.counters.byOperation].map(([op, buckets]) => ({
    labels: { op: (opName(op) ?? String(op)).toLowerCase() },
    buckets,
  }));
}

/** A server in memory has none. A disk that the system does not report is left out. */
function diskFree({ config: { dataDir, logDir } }: AdminView): readonly (readonly [string, number])[] {
  const places = [["data", dataDir] as const, ["log", logDir ?? dataDir] as const];
  return places.flatMap(([key, directory]) => {
    if (directory === undefined) return [];
    try {
      const { bavail, bsize } = statfsSync(directory);
      return [[key, bavail * bsize] as const];
    } catch {
      return [];
    }
  });
}

function gauges({ driver, startedAtMs, handshakeCount }: AdminView): readonly Metric[] {
  const { replica } = driver;
  const { counters, tree } = replica;
  const { open, max } = descriptors();
  const requests = { count: counters.latencyCount, least: counters.latencyMsMin, sum: counters.latencyMsTotal };
  return [
    decimalGauge("avg_latency", requests.count === 0 ? 0 : requests.sum / requests.count),
    gauge("max_latency", Math.floor(counters.latencyMsMax)),
    gauge("min_latency", requests.count === 0 ? 0 : Math.floor(requests.least)),
    gauge("packets_received", counters.packetsReceived),
    gauge("packets_sent", counters.packetsSent),
    gauge("num_alive_connections", replica.connectionCount),
    gauge("outstanding_requests", replica.outstandingCount),
    gauge("uptime", Math.floor(performance.now() - startedAtMs)),
    gauge("znode_count", tree.nodeCount),
    gauge("watch_count", replica.watches.watchCount),
    gauge("ephemerals_count", tree.ephemeralCount),
    gauge("approximate_data_size", tree.approximateDataSize),
    gauge("zooid_held_bytes", tree.heldBytes),
    gauge("zooid_large_listings", tree.largeListingCount),
    gauge("zooid_watches_held_bytes", tree.watches.heldBytes),
    gauge("zooid_feature_level", replica.zab.level),
    gauge("zooid_disk_low", replica.zab.room === "enough" ? 0 : 1),
    gauge("zooid_disk_full", replica.zab.room === "full" ? 1 : 0),
    gauge("open_file_descriptor_count", open),
    gauge("max_file_descriptor_count", max),
    gauge("global_sessions", tree.sessionCount),
    gauge("local_sessions", replica.localSessionCount),
    gauge("zooid_derived_password_sessions", tree.derivedPasswordCount),
    decimalGauge("connection_drop_probability", driver.dropChance),
    gauge("outstanding_tls_handshake", handshakeCount()),
    gauge("auth_failed_count", counters.authFailures),
    gauge("non_mtls_remote_conn_count", 0),
    gauge("non_mtls_local_conn_count", 0),
  ];
}

function counters(view: AdminView): readonly Metric[] {
  const { driver, config } = view;
  const { traffic, refusals } = driver;
  const refused = (kind: string): number => refusals.counts.get(kind) ?? 0;
  const { commitCount, expiredSessions } = driver.replica.counters;
  const isLearner = config.ensemble !== undefined && modeOf(view) !== "leader";
  return [
    counter("connection_request_count", traffic.connectRequests),
    counter("zooid_disk_refused_writes_total", driver.replica.counters.refusedForRoom),
    counter("zooid_slow_requests_total", driver.slow.count),
    counter("connection_rejected", view.rejectedCount() + refused("throttle")),
    counter("connection_drop_count", traffic.drops),
    counter("connection_revalidate_count", traffic.revalidations),
    counter("unsuccessful_handshake", refused("tls")),
    counter("tls_handshake_exceeded", refused("tls-limit")),
    counter("ensemble_auth_fail", refused("other-ensemble")),
    counter("sessionless_connections_expired", traffic.sessionlessExpired),
    counter("stale_sessions_expired", expiredSessions),
    counter("bytes_received_count", traffic.bytesReceived),
    counter("response_bytes", traffic.bytesSent),
    counter("watch_bytes", traffic.watchBytes),
    counter("looking_count", driver.roleTimes.lookingCount),
    counter("commit_count", isLearner ? 0 : commitCount),
    counter("proposal_count", isLearner ? 0 : commitCount),
    counter("learner_commit_received_count", isLearner ? commitCount : 0),
    // Observers receive commits, not proposals.
    counter("learner_proposal_received_count", isLearner && modeOf(view) !== "observer" ? commitCount : 0),
    counter("snap_count", view.snapshotCount()),
  ];
}

function roleSummaries({ driver }: AdminView): readonly Metric[] {
  const { elections, followerSyncs, observerSyncs, unavailable, leaderUnavailable } = driver.roleTimes;
  return [
    summary("election_time", elections),
    summary("follower_sync_time", followerSyncs),
    summary("observer_sync_time", observerSyncs),
    summary("unavailable_time", unavailable),
    summary("leader_unavailable_time", leaderUnavailable),
  ];
}

function fanOutSummaries({ driver: { fanOut } }: AdminView): readonly Metric[] {
  fanOut.settle();
  return [
    summary("node_created_watch_count", fanOut.created),
    summary("node_deleted_watch_count", fanOut.deleted),
    summary("node_changed_watch_count", fanOut.changed),
    summary("node_children_watch_count", fanOut.children),
  ];
}

function ensembleGauges(view: AdminView): readonly Metric[] {
  const { ensemble } = view.config;
  if (ensemble === undefined) return [];
  const voters = ensemble.servers.filter((server) => !server.isObserver);
  const forAll = gauge("quorum_size", voters.length);
  if (modeOf(view) === "follower" && ensemble.observerMasterPort !== undefined) {
    return [forAll, gauge("synced_observers", view.relayedObservers().length)];
  }
  if (modeOf(view) !== "leader") return [forAll];
  const learners = view.driver.replica.zab.learners();
  const level = learners.filter(({ phase }) => phase === "synced");
  const votes = new Set<number>(voters.map(({ sid }) => sid));
  const followers = level.filter(({ sid, isObserver }) => !isObserver && votes.has(sid));
  const { last, min, max } = view.driver.proposals.sizes;
  return [
    forAll,
    gauge("learners", learners.length),
    // Older exporters use this name.
    gauge("followers", learners.length),
    gauge("synced_followers", followers.length),
    gauge("synced_non_voting_followers", level.filter(({ sid }) => !votes.has(sid) && !isListed(ensemble, sid)).length),
    gauge("synced_observers", level.filter(({ sid, isObserver }) => isObserver && isListed(ensemble, sid)).length),
    gauge("pending_syncs", view.driver.replica.pendingSyncCount),
    gauge("leader_uptime", Math.floor(performance.now() - view.driver.roleTimes.sinceMs)),
    gauge("last_proposal_size", last),
    gauge("min_proposal_size", min),
    gauge("max_proposal_size", max),
  ];
}

/**
 * Lag of each learner: the entries of this epoch that it lacks, since zxids of one epoch are
 * consecutive.
 */
function replicationGauges(view: AdminView): readonly Metric[] {
  if (view.config.ensemble === undefined) return [];
  const { zab, tree } = view.driver.replica;
  const values: Metric[] = [
    gauge("zooid_epoch", zab.epoch),
    gauge("zooid_epochs_left", EPOCH_MAX - 1 - zab.epoch),
    gauge("zooid_committed", zab.committed),
    gauge("zooid_applied", tree.applied),
    gauge("zooid_leader", zab.leader ?? 0),
    gauge("zooid_ports_not_moved", view.portProblems().length),
    gauge("zooid_unlisted", isUnlisted(view) ? 1 : 0),
    gauge("zooid_clients_closed", zab.members.areClientsClosed ? 1 : 0),
    { kind: "gauge set", name: "zooid_peer_links", values: Object.entries(view.linkCounts() ?? {}) },
    {
      kind: "gauge set",
      name: "zooid_peer_connected",
      values: (view.reachability()?.peers ?? []).map(({ sid, isConnected }) => [`${sid}`, isConnected ? 1 : 0]),
    },
    {
      kind: "gauge set",
      name: "zooid_peer_clock_offset_seconds",
      values: [...view.clockOffsets()].map(([sid, aheadMs]) => [`${sid}`, Math.round(aheadMs) / 1000]),
    },
  ];
  if (modeOf(view) !== "leader") return values;
  const learners = zab.learners();
  const lags = (name: string, of: (learner: (typeof learners)[number]) => number): Metric => ({
    kind: "gauge set",
    name,
    values: learners.map((learner) => [`${learner.sid}`, of(learner)]),
  });
  return [
    ...values,
    lags("zooid_learner_unacked", ({ acked }) => lag(zab.lastProposed, acked)),
    lags("zooid_learner_unapplied", ({ applied }) => lag(zab.committed, applied)),
  ];
}

/** Whether this server is in no list, and follows without a vote. */
function isUnlisted({ config, driver }: AdminView): boolean {
  const { committed, isAgreed } = driver.replica.zab.members;
  return isAgreed && committed?.servers.some(({ sid }) => sid === config.ensemble?.sid) === false;
}

function isListed(ensemble: NonNullable<ServerConfig["ensemble"]>, sid: number): boolean {
  return ensemble.servers.some((server) => server.sid === sid && server.isUnlisted !== true);
}

/** Entries between two zxids; a zxid before the epoch counts as the epoch's start. */
function lag(newest: Zxid, reached: Zxid): number {
  return epochOf(newest) === epochOf(reached) ? Math.max(0, newest - reached) : counterOf(newest);
}
