import { type Board, OF_SERVER as S, WINDOW } from "./board.ts";

export const SERVER_BOARD: Board = {
  uid: "zooid-server",
  title: "Zooid: server",
  description: "One server: requests, latency, log and disk, sessions and watches, memory",
  isOfOneServer: true,
  rows: [
    {
      title: "Requests",
      panels: [
        {
          title: "Uptime",
          shape: "number",
          unit: "ms",
          queries: { uptime: `uptime{${S}}`, "as leader": `leader_uptime{${S}}` },
          bad: "Short without a planned restart: the server ended.",
          remedy: "The last lines of its log before the start, and its exit status, say why (apps/server/README.md).",
        },
        {
          title: "Requests by operation",
          unit: "reqps",
          queries: { "{{op}}": `sum by (op) (rate(zooid_request_seconds_count{${S}}${WINDOW}))` },
          bad: "One operation dominates: a client in a loop.",
          remedy: "zooid-cli 4lw cons shows which connections send requests.",
        },
        {
          title: "Bytes",
          unit: "Bps",
          queries: {
            "from clients": `rate(bytes_received_count{${S}}${WINDOW})`,
            "to clients": `rate(response_bytes{${S}}${WINDOW})`,
            notifications: `rate(watch_bytes{${S}}${WINDOW})`,
          },
          bad: "Near what the network can carry.",
          remedy: "Large listings and large values cost most: zooid_large_listings counts the former.",
        },
        {
          title: "Unanswered writes and syncs",
          queries: { requests: `outstanding_requests{${S}}` },
          bad: "Near globalOutstandingLimit: connections are not read any more.",
          remedy: "Find what writes wait for: commits of the log, a lagging state file, or the leader.",
        },
        {
          title: "Slow requests",
          queries: { requests: `increase(zooid_slow_requests_total{${S}}[5m])` },
          bad: "Above 0: requests took zooid.slowRequestMs or longer.",
          remedy: "The lines slow-request of the log name the request and the stage.",
        },
        {
          title: "Refusals",
          queries: {
            "{{key}}": `sum by (key) (increase(zooid_refusals_total{${S}}[5m])) > 0`,
            connections: `increase(connection_rejected{${S}}[5m])`,
            authentications: `increase(auth_failed_count{${S}}[5m])`,
            "for want of room": `increase(zooid_disk_refused_writes_total{${S}}[5m])`,
          },
          bad: "Above 0: clients meet a limit, fail to authenticate, or do not speak the protocol.",
          remedy: "The log has the first of each kind with its address; the audit log has failed authentications.",
        },
      ],
    },
    {
      title: "Latency",
      panels: [
        {
          title: "Reads",
          unit: "ms",
          queries: {
            mean: `rate(readlatency_sum{${S}}${WINDOW}) / rate(readlatency_count{${S}}${WINDOW})`,
            p99: `readlatency{${S},quantile="0.99"}`,
          },
          bad: "Above a few milliseconds: reads wait for the event loop, or behind writes of their session.",
          remedy: "See the event loop below; a huge answer or a starved machine blocks it.",
        },
        {
          title: "Writes",
          unit: "ms",
          queries: {
            mean: `rate(updatelatency_sum{${S}}${WINDOW}) / rate(updatelatency_count{${S}}${WINDOW})`,
            p99: `updatelatency{${S},quantile="0.99"}`,
          },
          bad: "Above your clients' tolerance: a write waits for the disks of a quorum.",
          remedy: "Compare with commits of the log on all servers.",
        },
        {
          title: "All requests",
          unit: "s",
          queries: {
            p50: `histogram_quantile(0.5, sum by (le) (rate(zooid_request_seconds_bucket{${S}}${WINDOW})))`,
            p99: `histogram_quantile(0.99, sum by (le) (rate(zooid_request_seconds_bucket{${S}}${WINDOW})))`,
            "p99.9": `histogram_quantile(0.999, sum by (le) (rate(zooid_request_seconds_bucket{${S}}${WINDOW})))`,
          },
          bad: "p99.9 far above p99: pauses of the process, the disk, or single huge requests.",
          remedy: "The lines slow-request of the log name the stage.",
        },
        {
          title: "Event loop",
          unit: "s",
          queries: {
            p99: `nodejs_eventloop_lag_p99_seconds{${S}}`,
            max: `nodejs_eventloop_lag_max_seconds{${S}}`,
          },
          bad: "p99 above 0.1 s: the event loop is blocked, by a huge answer or a starved machine.",
          remedy: "Check CPU limits and steal time; large listings should be read in pages.",
        },
        {
          title: "Garbage collection",
          unit: "percentunit",
          queries: { "{{kind}}": `sum by (kind) (rate(nodejs_gc_duration_seconds_sum{${S}}${WINDOW}))` },
          shows: "Share of the time that the collector takes.",
          bad: "Above 0.1: the heap is too small for its load.",
          remedy: "Compare with the heap below, and raise the memory of the process.",
        },
        {
          title: "CPU",
          unit: "percentunit",
          queries: { cores: `rate(process_cpu_seconds_total{${S}}${WINDOW})` },
          shows: "Cores that the process uses; the event loop has one, log and state a second.",
          bad: "Near 1 for long: the server is at its limit.",
          remedy: "Add observers for reads, or move clients to other servers.",
        },
      ],
    },
    {
      title: "Log and disk",
      panels: [
        {
          title: "Syncs of the log, mean",
          unit: "ms",
          queries: { sync: `rate(fsynctime_sum{${S}}${WINDOW}) / rate(fsynctime_count{${S}}${WINDOW})` },
          bad: "Above 50 ms: the disk is slow, and every write waits for the disks of a quorum.",
          remedy: "Give the log a disk of its own (dataLogDir); zooid-server check measures a disk.",
        },
        {
          title: "Commits of the log",
          unit: "s",
          queries: {
            p50: `histogram_quantile(0.5, sum by (le) (rate(zooid_commit_seconds_bucket{${S}}${WINDOW})))`,
            p99: `histogram_quantile(0.99, sum by (le) (rate(zooid_commit_seconds_bucket{${S}}${WINDOW})))`,
          },
          bad: "p99 far above p50: other programs write to the same disk.",
          remedy: "Move them, or the log, to another disk.",
        },
        {
          title: "Transactions in a sync",
          queries: {
            transactions: `rate(sync_processor_batch_size_sum{${S}}${WINDOW}) / rate(sync_processor_batch_size_count{${S}}${WINDOW})`,
          },
          bad: "Grows with the load, which is as it should be; hundreds at a low rate of writes: syncs are slow.",
          remedy: "See the syncs of the log.",
        },
        {
          title: "Log",
          unit: "bytes",
          queries: {
            "not durable yet": `zooid_log_pending_bytes{${S}}`,
            "newest segment": `zooid_log_wal_bytes{${S}}`,
          },
          bad: "Bytes that are not durable grow: the disk does not keep up.",
          remedy: "See the syncs of the log.",
        },
        {
          title: "Segments of the log",
          queries: {
            segments: `zooid_log_segments{${S}}`,
            "stalls in 5 minutes": `increase(zooid_log_stalls_total{${S}}[5m])`,
            "purged in 5 minutes": `increase(zooid_log_purged_segments_total{${S}}[5m])`,
          },
          bad: "Segments grow without end: a learner, the history or zooid.log.retainBytes keeps them. Stalls: the next segment was not ready in time.",
          remedy: "See the learners' lag, the history's lag, and zooid.log.retainBytes and retainMs.",
        },
        {
          title: "State file",
          unit: "bytes",
          queries: { lag: `zooid_state_lag_bytes{${S}}` },
          shows: "Bytes of log that the state file lacks, which the next start replays.",
          bad: "Near 512 MiB: writes wait for it.",
          remedy: "The disk of dataDir is too slow for the rate of writes.",
        },
        {
          title: "Checkpoints of the state file",
          unit: "s",
          queries: {
            last: `zooid_state_last_checkpoint_seconds{${S}}`,
          },
          bad: "Grows from run to run: the disk of dataDir is busy.",
          remedy: "Separate log and state (dataLogDir).",
        },
        {
          title: "Waits for the state file",
          queries: {
            waits: `increase(zooid_state_lag_waits_total{${S}}[5m])`,
            checkpoints: `increase(zooid_state_checkpoints_total{${S}}[5m])`,
          },
          bad: "Waits above 0: writes waited because the state file lagged too far behind.",
          remedy: "The disk of dataDir is too slow for the rate of writes.",
        },
        {
          title: "Free room",
          unit: "bytes",
          queries: { "{{key}}": `zooid_disk_free_bytes{${S}}` },
          bad: "Below zooid.disk.lowBytes: writes that add data are refused soon.",
          remedy: "Make room: docs/operations.md, full or failing disk.",
        },
        {
          title: "Want of room",
          queries: { low: `zooid_disk_low{${S}}`, full: `zooid_disk_full{${S}}` },
          bad: "low is 1: the server leads only if no other has room. full is 1: it acknowledges nothing.",
          remedy: "Make room: docs/operations.md, full or failing disk.",
        },
        {
          title: "Check for damage",
          queries: {
            "damaged files": `zooid_scrub_damaged_files{${S}}`,
            "rounds in a day": `increase(zooid_scrub_rounds_total{${S}}[1d])`,
            "unfinished in a day": `increase(zooid_scrub_unfinished_rounds_total{${S}}[1d])`,
          },
          bad: "Damaged files above 0: the disk changed what was written. No rounds in a day: the files are not checked.",
          remedy: "The ERROR line file-damaged names each file, and what to do.",
        },
        {
          title: "Speed of that check",
          unit: "Bps",
          queries: { bytes: `rate(zooid_scrub_bytes_total{${S}}[1h])` },
          bad: "0 for hours: the files are not checked.",
          remedy: "See zooid.scrub.bytesPerSecond and everyMs; the last round took zooid_scrub_last_round_seconds.",
        },
      ],
    },
    {
      title: "Sessions and watches",
      panels: [
        {
          title: "Connections and sessions",
          queries: {
            connections: `num_alive_connections{${S}}`,
            "sessions of the ensemble": `global_sessions{${S}}`,
            "local sessions": `local_sessions{${S}}`,
          },
          bad: "Connections near maxCnxns, or near the limit of descriptors.",
          remedy: "Raise the limit, which a reload applies, or move clients to other servers.",
        },
        {
          title: "Connects",
          unit: "cps",
          queries: {
            "connect requests": `rate(connection_request_count{${S}}${WINDOW})`,
            renewals: `rate(connection_revalidate_count{${S}}${WINDOW})`,
            "lost connections": `rate(connection_drop_count{${S}}${WINDOW})`,
          },
          bad: "Many connect requests beside few sessions: a client connects for each request.",
          remedy: "zooid-cli 4lw cons names the addresses; such a client should keep one session.",
        },
        {
          title: "Expired",
          queries: {
            sessions: `increase(stale_sessions_expired{${S}}[5m])`,
            "connections without a session": `increase(sessionless_connections_expired{${S}}[5m])`,
          },
          shows: "Sessions expire at the leader.",
          bad: "Many: clients were paused, cut off, or died, and lost their ephemeral znodes.",
          remedy: "Compare with the clients' logs; a session timeout below pauses of the clients is too short.",
        },
        {
          title: "Watches",
          queries: { watches: `watch_count{${S}}` },
          bad: "Grows without end: a client arms watches and does not use them.",
          remedy: "zooid-cli 4lw wchs, and the console's page of watches, name the connections.",
        },
        {
          title: "Watches fired",
          unit: "ops",
          queries: {
            created: `rate(node_created_watch_count_sum{${S}}${WINDOW})`,
            deleted: `rate(node_deleted_watch_count_sum{${S}}${WINDOW})`,
            changed: `rate(node_changed_watch_count_sum{${S}}${WINDOW})`,
            children: `rate(node_children_watch_count_sum{${S}}${WINDOW})`,
          },
          bad: "Thousands for one change: many clients wait for one znode (a herd).",
          remedy: "Let each client watch its predecessor only, as the recipes' locks do.",
        },
        {
          title: "TLS handshakes",
          queries: {
            failed: `increase(unsuccessful_handshake{${S}}[5m])`,
            "refused for the limit": `increase(tls_handshake_exceeded{${S}}[5m])`,
            "in progress": `outstanding_tls_handshake{${S}}`,
          },
          bad: "Failed above 0: certificates that are not trusted, or have ended.",
          remedy: "The lines refused of the log name the reason and the remedy (docs/security.md).",
        },
      ],
    },
    {
      title: "Memory and process",
      panels: [
        {
          title: "Memory of the process",
          unit: "bytes",
          queries: {
            resident: `process_resident_memory_bytes{${S}}`,
            heap: `nodejs_heap_size_used_bytes{${S}}`,
            "outside the heap": `nodejs_external_memory_bytes{${S}}`,
          },
          bad: "Resident near the memory of the machine or its cgroup: the process is killed soon.",
          remedy: "Raise the memory, or lower zooid.heldBytesMax and zooid.watchBytesMax, which a reload applies.",
        },
        {
          title: "What holds it",
          unit: "bytes",
          queries: { tree: `zooid_held_bytes{${S}}`, watches: `zooid_watches_held_bytes{${S}}` },
          bad: "Tree near zooid.heldBytesMax: writes that add data are refused. Watches near zooid.watchBytesMax: the address with the most loses a connection.",
          remedy: "Delete data, move clients, or raise limits and memory.",
        },
        {
          title: "Data",
          queries: {
            znodes: `znode_count{${S}}`,
            ephemeral: `ephemerals_count{${S}}`,
            "large listings": `zooid_large_listings{${S}}`,
          },
          bad: "Large listings above 0: stock clients cannot read the children of these znodes.",
          remedy: "The lines large-listing of the log name each; children should be spread over more parents.",
        },
        {
          title: "Descriptors",
          queries: { open: `open_file_descriptor_count{${S}}`, limit: `max_file_descriptor_count{${S}}` },
          bad: "Open above nine tenths of the limit: clients are refused soon.",
          remedy: "Raise LimitNOFILE (ulimit -n), or lower maxCnxns.",
        },
        {
          title: "Certificates, days left",
          queries: { "seen by {{key}}": `(zooid_tls_certificate_not_after_seconds{${S}} - time()) / 86400` },
          steps: [
            [0, "red"],
            [7, "yellow"],
            [14, "green"],
          ],
          shape: "number",
          bad: "Below 14: the certificate ends soon. No value: the server has none.",
          remedy: "Renew its files: they are read again when they change, or by zooid-cli reload.",
        },
        {
          title: "Snapshots",
          queries: {
            "sent to learners": `increase(snap_count{${S}}[1h])`,
            "not taken": `increase(snapshot_error_count{${S}}[1h])`,
          },
          bad: "Sent again and again: a learner falls further behind than the log is kept.",
          remedy: "Raise zooid.log.retainBytes, which a reload applies, or find why the learner is slow.",
        },
      ],
    },
  ],
};
