import { type Board, OF_ENSEMBLE as E, WINDOW } from "./board.ts";

export const ENSEMBLE_BOARD: Board = {
  uid: "zooid-ensemble",
  title: "Zooid: ensemble",
  description: "Whether an ensemble serves, how fast, and which of its servers need attention",
  isOfOneServer: false,
  rows: [
    {
      title: "Service",
      panels: [
        {
          title: "Leaders",
          shape: "number",
          queries: { leaders: `count(leader_uptime{${E}}) or vector(0)` },
          steps: [
            [0, "red"],
            [1, "green"],
            [2, "red"],
          ],
          bad: "0: no server leads, and no write is answered. 2 for longer than syncLimit: two ensembles share a job, or an old leader is cut off.",
          remedy:
            "Ask /readyz of each server what it waits for, or all of them: zooid-cli doctor. A single server has 0.",
        },
        {
          title: "Failures it survives",
          shape: "number",
          queries: { voters: `max(synced_followers{${E}} - floor(quorum_size{${E}} / 2))` },
          steps: [
            [-1, "red"],
            [1, "green"],
          ],
          shows: "Voters that may fail before writes stop, where all votes have equal weight.",
          bad: "0: the next failure of a voter stops writes. No value: there is no leader.",
          remedy: "zooid-cli member list names the voters that do not serve.",
        },
        {
          title: "Servers scraped",
          shape: "number",
          queries: { up: `sum(up{${E}})`, of: `count(up{${E}})` },
          bad: "Fewer than all: a server is down, or its metrics port cannot be reached.",
          remedy: "See whether it runs: systemctl status, kubectl get pods, or its log.",
        },
        {
          title: "Alerts firing",
          shape: "number",
          queries: { alerts: `count(ALERTS{${E},alertname=~"Zooid.*",alertstate="firing"}) or vector(0)` },
          steps: [
            [0, "green"],
            [1, "red"],
          ],
          shows: "Alerts of deploy/prometheus, where Prometheus has these rules.",
          bad: "Above 0: see Prometheus' page of alerts.",
          remedy: "Each alert has its remedy as an annotation.",
        },
        {
          title: "Elections in 15 minutes",
          queries: { "{{instance}}": `increase(election_time_count{${E}}[15m])` },
          bad: "Above 0 without a restart: servers lost their leader.",
          remedy:
            "Check the network, pauses of the machines, and slow disks; the log's lines LOOKING have the reason (docs/operations.md, alerts).",
        },
        {
          title: "Time without service",
          unit: "ms",
          queries: { "{{instance}}": `increase(unavailable_time_sum{${E}}${WINDOW})` },
          shows: "From the start of an election until clients of the server are served again.",
          bad: "More than a second or two for each election: synchronization is slow, or no candidate has a quorum.",
          remedy: "Look for SNAP in the logs of learners, and at the disks of those that synchronize.",
        },
      ],
    },
    {
      title: "Requests",
      panels: [
        {
          title: "Requests",
          unit: "reqps",
          queries: {
            reads: `sum(rate(readlatency_count{${E}}${WINDOW}))`,
            writes: `sum(rate(updatelatency_count{${E}}${WINDOW}))`,
          },
          bad: "A drop to 0 while clients are connected: they wait. A jump: a client in a loop.",
          remedy: "zooid-cli 4lw cons of each server shows which connections send requests.",
        },
        {
          title: "Latency of requests, p99",
          unit: "s",
          queries: {
            "{{op}}": `histogram_quantile(0.99, sum by (le, op) (rate(zooid_request_seconds_bucket{${E}}${WINDOW})))`,
          },
          bad: "Above your clients' tolerance. Writes alone: the disks or the network between servers. Reads too: a server is overloaded.",
          remedy:
            "Lines slow-request of the log name the stage; the board of a server has its disk and its event loop.",
        },
        {
          title: "Commits of the log, p99",
          unit: "s",
          queries: {
            "{{instance}}": `histogram_quantile(0.99, sum by (le, instance) (rate(zooid_commit_seconds_bucket{${E}}${WINDOW})))`,
          },
          bad: "Above 50 ms on a quorum: every write waits for it. On one server: that disk is slow.",
          remedy: "Give the log a disk of its own (dataLogDir); zooid-server check measures a disk.",
        },
        {
          title: "Unanswered writes and syncs",
          queries: { "{{instance}}": `outstanding_requests{${E}}` },
          bad: "Near globalOutstandingLimit: connections are not read any more.",
          remedy: "Find what writes wait for: commits of the log, a lagging state file, or the leader's CPU.",
        },
        {
          title: "Slow requests",
          queries: { "{{instance}}": `increase(zooid_slow_requests_total{${E}}[5m])` },
          bad: "Above 0: requests took zooid.slowRequestMs or longer.",
          remedy: "The lines slow-request of its log name the request and the stage.",
        },
        {
          title: "Refused connections and input",
          queries: {
            "{{instance}} connections": `increase(connection_rejected{${E}}[5m])`,
            "{{instance}} {{key}}": `increase(zooid_refusals_total{${E}}[5m]) > 0`,
          },
          bad: "Above 0: clients meet a limit, fail to authenticate, or do not speak the protocol.",
          remedy: "The lines refused of its log name the limit and the address.",
        },
      ],
    },
    {
      title: "Replication",
      panels: [
        {
          title: "Transactions not acknowledged",
          queries: { "server {{key}}": `max by (key) (zooid_learner_unacked{${E}})` },
          bad: "Grows for a minute: the learner does not keep up, and could not take over.",
          remedy: "Compare its disk (commits of the log) and its network with the others'.",
        },
        {
          title: "Transactions not applied",
          queries: { "server {{key}}": `max by (key) (zooid_learner_unapplied{${E}})` },
          bad: "Grows for a minute: reads of that server show an older state.",
          remedy: "Look at its CPU and its event loop on its board.",
        },
        {
          title: "Connections between servers",
          queries: { "{{instance}} to {{key}}": `zooid_peer_connected{${E}}` },
          bad: "0: the server has no election connection to that server.",
          remedy: "/readyz?verbose and the line peer-unreachable of its log name the reason.",
        },
        {
          title: "Clocks",
          unit: "s",
          queries: { "{{key}} seen by {{instance}}": `zooid_peer_clock_offset_seconds{${E}}` },
          bad: "Beyond 2 s: times of znodes and TTLs change with the leader, and certificates may be refused.",
          remedy: "Let all machines follow one time server: timedatectl set-ntp true, or chrony.",
        },
        {
          title: "Feature level",
          queries: { lowest: `min(zooid_feature_level{${E}})`, highest: `max(zooid_feature_level{${E}})` },
          bad: "The two differ for longer than a moment: a server does not apply the log.",
          remedy:
            "zooid-cli upgrade status names versions, levels, and the next command (docs/operations.md, upgrades).",
        },
        {
          title: "Epochs left",
          queries: { epochs: `min(zooid_epochs_left{${E}})` },
          bad: "Below 2^20: half of all epochs are used.",
          remedy: "See why leaders change, and plan a new ensemble.",
        },
      ],
    },
    {
      title: "Clients and data",
      panels: [
        {
          title: "Connections",
          queries: { "{{instance}}": `num_alive_connections{${E}}` },
          bad: "All on one server: clients do not balance. A drop: clients lost their servers.",
          remedy: "Check the clients' connect strings and the load balancer, if there is one.",
        },
        {
          title: "Sessions",
          queries: {
            global: `max(global_sessions{${E}})`,
            local: `sum(local_sessions{${E}})`,
            "expired in 5 minutes": `sum(increase(stale_sessions_expired{${E}}[5m]))`,
          },
          bad: "Many expired: clients were paused, cut off, or died, and lost their ephemeral znodes.",
          remedy:
            "Compare with elections and with the clients' logs; a session timeout below pauses of the clients is too short.",
        },
        {
          title: "Watches",
          queries: { "{{instance}}": `watch_count{${E}}` },
          bad: "Grows without end: a client arms watches and does not use them.",
          remedy: "zooid-cli 4lw wchs, and the console's page of watches, name the connections.",
        },
        {
          title: "Znodes",
          queries: { all: `max(znode_count{${E}})`, ephemeral: `max(ephemerals_count{${E}})` },
          bad: "Grows without end: a client does not delete what it made. All data are in memory.",
          remedy: "The console shows the children of each znode; quotas limit a subtree (zooid-cli setquota).",
        },
        {
          title: "Memory of the tree",
          unit: "bytes",
          queries: { "{{instance}}": `zooid_held_bytes{${E}}` },
          bad: "Near zooid.heldBytesMax (default: half of the memory): writes that add data are refused with QUOTA_EXCEEDED.",
          remedy: "Delete data, or raise the limit and the memory: a reload applies it.",
        },
        {
          title: "Quotas, used",
          unit: "percentunit",
          queries: {
            "{{key}} znodes": `max by (key) (quota_count_usage_per_namespace{${E}} / (quota_count_limit_per_namespace{${E}} > 0))`,
            "{{key}} bytes": `max by (key) (quota_bytes_usage_per_namespace{${E}} / (quota_bytes_limit_per_namespace{${E}} > 0))`,
          },
          bad: "Near 1: writes below a hard quota are refused soon, where enforceQuota is true.",
          remedy: "Delete data of that subtree, or raise its quota. No value: there are no quotas.",
        },
      ],
    },
  ],
};
