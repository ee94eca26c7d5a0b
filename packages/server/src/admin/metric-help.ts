/**
 * Help texts of the metrics, for the HELP line of Prometheus: unit and scope included. Apache's
 * names keep Apache's meaning.
 */
const HELP: ReadonlyMap<string, string> = new Map([
  // Requests
  [
    "avg_latency",
    "Mean time from a request to its answer in milliseconds, pings aside, since the start or the last reset",
  ],
  ["max_latency", "Longest time from a request to its answer in milliseconds"],
  ["min_latency", "Shortest time from a request to its answer in milliseconds"],
  ["readlatency", "Time from a read to its answer in milliseconds"],
  ["updatelatency", "Time from a write to its answer in milliseconds"],
  ["outstanding_requests", "Writes and syncs that are read and not answered"],
  ["packets_received", "Requests received from clients"],
  ["packets_sent", "Answers and notifications sent to clients"],
  ["bytes_received_count", "Bytes received from clients"],
  ["response_bytes", "Bytes sent to clients"],
  ["commit_count", "Transactions committed by this server as a leader or alone"],
  ["proposal_count", "Transactions proposed by this server as a leader or alone"],
  ["last_proposal_size", "Bytes of the newest proposal"],
  ["max_proposal_size", "Bytes of the largest proposal"],
  ["min_proposal_size", "Bytes of the smallest proposal"],
  ["sync_processor_batch_size", "Transactions in one sync of the log"],

  // Connections and sessions
  ["num_alive_connections", "Open connections of clients, with or without a session"],
  ["connection_rejected", "Connections refused because of a limit on their number or rate"],
  ["connection_drop_count", "Connections that ended without the end of their session"],
  ["connection_drop_probability", "Share of new connections that the connection throttle refuses"],
  ["connection_request_count", "Connect requests of clients, for new sessions and renewals"],
  ["connection_revalidate_count", "Connect requests that renew a session"],
  ["non_mtls_local_conn_count", "Connections from this machine without a client certificate"],
  ["non_mtls_remote_conn_count", "Connections from other machines without a client certificate"],
  ["sessionless_connections_expired", "Connections closed because no connect request arrived in time"],
  ["stale_sessions_expired", "Sessions that timed out"],
  ["global_sessions", "Replicated sessions of the ensemble"],
  ["local_sessions", "Local sessions of this server"],
  ["auth_failed_count", "Failed authentications of clients"],
  ["ensemble_auth_fail", "Connections refused because their client names another ensemble"],
  ["outstanding_tls_handshake", "TLS handshakes of clients in progress"],
  ["tls_handshake_exceeded", "TLS connections closed because of the limit on handshakes in progress"],
  ["unsuccessful_handshake", "TLS handshakes of clients that failed"],
  ["zooid_refusals", "Refused input by kind: limits, malformed frames, failed handshakes"],

  // The tree
  ["znode_count", "Znodes in the tree"],
  ["ephemerals_count", "Ephemeral znodes in the tree"],
  ["watch_count", "Watches of this server's clients"],
  ["approximate_data_size", "Bytes of paths and data in the tree"],
  ["watch_bytes", "Bytes of notifications sent to clients"],
  ["node_created_watch_count", "Watches fired by one creation of a znode"],
  ["node_deleted_watch_count", "Watches fired by one deletion of a znode"],
  ["node_changed_watch_count", "Watches fired by one change of a znode's data"],
  ["node_children_watch_count", "Watches fired by one change of a znode's children"],
  [
    "zooid_held_bytes",
    "Memory of the tree in bytes, about; writes that add to it are refused beyond zooid.heldBytesMax",
  ],
  ["zooid_large_listings", "Nodes whose children's names take more than the 1 MiB that stock clients read by default"],
  ["zooid_watches_held_bytes", "Memory of all watches in bytes, about; see zooid.watchBytesMax"],
  ["quota_count_limit_per_namespace", "Limit on the number of znodes, by the first name of the path"],
  ["quota_bytes_limit_per_namespace", "Limit on the bytes of data, by the first name of the path"],
  ["quota_count_usage_per_namespace", "Number of znodes under a quota, by the first name of the path"],
  ["quota_bytes_usage_per_namespace", "Bytes of data under a quota, by the first name of the path"],
  ["quota_exceeded_error_per_namespace", "Writes refused because of a hard quota, by the first name of the path"],

  // The ensemble
  ["quorum_size", "Voting members of the ensemble"],
  ["learners", "Learners connected to this leader"],
  ["followers", "Followers connected to this leader"],
  ["synced_followers", "Followers synchronized with this leader"],
  ["synced_non_voting_followers", "Followers that are synchronized and do not count towards a quorum"],
  ["synced_observers", "Synchronized observers, at the leader or at the follower that serves them"],
  ["pending_syncs", "Syncs that wait for a leadership check or for earlier transactions"],
  ["leader_uptime", "Milliseconds since this server became leader"],
  ["looking_count", "Searches for a leader"],
  ["election_time", "Time of a search until a leader is elected in milliseconds"],
  ["unavailable_time", "Time from the start of a search until clients are served again in milliseconds"],
  ["leader_unavailable_time", "The same where this server became the leader"],
  ["follower_sync_time", "Time of a follower's synchronization in milliseconds"],
  ["observer_sync_time", "Time of an observer's synchronization in milliseconds"],
  ["snap_count", "Whole states sent to learners"],
  ["learner_commit_received_count", "Commits received as a learner"],
  ["learner_proposal_received_count", "Proposals received as a learner"],
  ["zooid_epoch", "Epoch of this member's role; 0 without one"],
  ["zooid_epochs_left", "Epochs that the ensemble may still begin, one for each election"],
  ["zooid_committed", "Newest committed zxid that this member knows"],
  ["zooid_applied", "Newest zxid that is applied to this member's tree"],
  ["zooid_leader", "Server id of the leader; 0 while none is known"],
  [
    "zooid_ports_not_moved",
    "Ports that could not be opened where the ensemble's configuration puts them; the log names them",
  ],
  ["zooid_unlisted", "1 while the list in force does not have this member, which follows without a vote"],
  ["zooid_peer_links", "Links to other servers: all, those with TLS, those with proof of a shared secret"],
  ["zooid_peer_clock_offset_ms", "milliseconds by which the clock of the server with that id is ahead of this one's"],
  ["zooid_peer_connected", "1 while this member has an election connection to the server with that id, else 0"],

  // Storage and process
  ["zooid_request_seconds", "Time from a request to its answer, by operation"],
  ["zooid_commit_seconds", "Time of a commit of the log, with its sync"],
  [
    "zooid_tls_certificate_not_after_seconds",
    "End of validity of this server's certificate, in seconds since 1970, by who sees it",
  ],
  ["zooid_tls_reloads", "Times that TLS files were read again, by who sees the certificate"],
  ["zooid_tls_reload_failures", "Times that TLS files were read again and could not be used"],
  ["fsynctime", "Time of a sync of the log in milliseconds"],
  ["snapshottime", "Time of one run that brings the state file forward in milliseconds"],
  ["dbinittime", "Time of the last recovery at start in milliseconds"],
  ["startup_snap_load_time", "Time to load the state file at the last start in milliseconds"],
  ["startup_txns_load_time", "Time to replay the log at the last start in milliseconds"],
  ["startup_txns_loaded", "Transactions replayed at the last start"],
  ["restore_time", "Time of a restored snapshot in milliseconds"],
  ["restore_error_count", "Snapshots that could not be restored"],
  ["restore_rate_limited_count", "Requests to restore a snapshot that were refused because of their rate"],
  ["snapshot_error_count", "Snapshots that could not be taken"],
  ["snapshot_rate_limited_count", "Requests for a snapshot that were refused because of their rate"],
  ["zooid_disk_free_bytes", "Free bytes on the disk of the state (data) and of the log (log)"],
  [
    "zooid_disk_low",
    "1 while the disk has less room than zooid.disk.reserveBytes, so that this server leads only if no other has room",
  ],
  ["zooid_disk_full", "1 while the log waits for room on its disk, so that this server acknowledges nothing"],
  ["zooid_disk_refused_writes", "Writes of clients of this server that were refused for want of room on the disks"],
  ["zooid_history_files", "Files of the history in the data directory"],
  ["zooid_history_bytes", "Bytes of these files"],
  ["zooid_history_lag_bytes", "Bytes of the log that are committed and in no file of the history yet"],
  ["zooid_history_gaps", "Times that the log let go of entries before they were in the history"],
  [
    "zooid_history_failing",
    "1 while files of the history, or copies of the whole state in it, cannot be written; the log says why",
  ],
  ["zooid_scrub_rounds", "Times that the state file and the sealed segments of the log were checked for damage"],
  ["zooid_scrub_bytes", "Bytes of them that were checked"],
  ["zooid_scrub_last_round_ms", "Time of the last check in milliseconds"],
  ["zooid_scrub_unfinished_rounds", "Checks that ended before their end, for another reason than damage"],
  ["zooid_scrub_damaged_files", "Files that the last check found damaged; the log names them"],
  ["zooid_slow_requests", "Requests that took as long as zooid.slowRequestMs or longer; the log has their stages"],
  ["zooid_log_pending_bytes", "Bytes handed to the log and not durable yet"],
  ["zooid_log_purged_segments", "Segments purged from the log"],
  ["zooid_log_segments", "Segments of the log, the newest included"],
  ["zooid_log_stalls", "Times that the log waited because the next segment was not ready"],
  ["zooid_log_wal_bytes", "Bytes written to the newest segment of the log"],
  ["zooid_state_checkpoints", "Runs that brought the state file forward"],
  ["zooid_state_lag_bytes", "Bytes of committed transactions that the state file lacks"],
  ["zooid_state_lag_waits", "Times that writes waited for the state file"],
  ["zooid_state_last_checkpoint_ms", "Time of the newest run that brought the state file forward in milliseconds"],
  ["uptime", "Milliseconds since the start"],
  ["open_file_descriptor_count", "Open files and sockets of the process"],
  ["max_file_descriptor_count", "Files and sockets that the process may have open"],
]);

/** Names that have a server id in them. */
const HELP_OF_LEARNERS: readonly (readonly [RegExp, string])[] = [
  [/^zooid_learner_\d+_unacked$/, "Transactions proposed by this leader that the learner has not acknowledged"],
  [/^zooid_learner_\d+_unapplied$/, "Committed transactions that the learner has not applied"],
];

const NOT_COUNTED = "Always 0: this server has no such stage, cache or limit; kept for dashboards of Apache ZooKeeper";

/** @param isCounted false for a name that exists only because Apache has it */
export function helpOf(name: string, isCounted: boolean): string | undefined {
  if (!isCounted) return NOT_COUNTED;
  return HELP.get(name) ?? HELP_OF_LEARNERS.find(([pattern]) => pattern.test(name))?.[1];
}
