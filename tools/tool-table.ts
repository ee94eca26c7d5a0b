import { basename } from "node:path";

/**
 * The programs of `npm run tool`: they are needed now and then, each a file with a comment of its
 * own on its options.
 */
export interface Tool {
  readonly name: string;
  readonly file: string;
  readonly does: string;
  /**
   * The packages that are built before it runs, where it starts built processes. The tool itself
   * takes the packages from their sources.
   */
  readonly builds: readonly string[];
}

export interface ToolGroup {
  readonly title: string;
  readonly tools: readonly Tool[];
}

/** Names of tools that are not those of their files. */
const NAMES: Readonly<Record<string, string>> = {
  "packages/conformance/src/old-apache.ts": "foreign-old",
  "packages/trials/src/estates/start-estates.ts": "estates",
  "packages/simulator/src/mutants/main.ts": "mutate",
  "tools/mutants/main.ts": "mutate-tests",
  "packages/trials/src/recipe-rounds/main.ts": "recipe-rounds",
  "packages/recipes/src/testing/leak-cycles-main.ts": "leak-cycles",
  "packages/trials/src/perf/allocations.ts": "perf-allocations",
  "packages/trials/src/perf/million.ts": "perf-million",
  "packages/trials/src/perf/child-pages.ts": "perf-child-pages",
  "packages/trials/src/perf/past-reads.ts": "perf-past-reads",
  "packages/trials/src/perf/changes-streams.ts": "perf-changes-streams",
  "packages/trials/src/perf/history-writes.ts": "perf-history-writes",
  "packages/trials/src/perf/archive-cpu.ts": "perf-archive-cpu",
  "packages/trials/src/perf/beside.ts": "perf-beside",
  "packages/trials/src/perf/broadcast.ts": "perf-broadcast",
  "packages/trials/src/perf/ensemble-shapes.ts": "perf-shapes",
  "packages/trials/src/perf/handovers.ts": "perf-handovers",
  "packages/trials/src/perf/write-cpu.ts": "perf-write-cpu",
  "tools/generate-protobuf-code.ts": "generate",
};

const BUILDS: Readonly<Record<string, readonly string[]>> = {
  "compare-clients": ["packages/client", "apps/server"],
  "recover-kill": ["apps/server"],
  "apache-import": ["apps/server"],
  "apache-move": ["apps/server"],
  "apache-follow-server": ["apps/server"],
  "apache-follow-full-disk": ["apps/server"],
  "apache-migrate": ["apps/server", "apps/cli"],
  "apache-take-over": ["apps/server", "apps/cli"],
  "apache-return": ["apps/server", "apps/cli"],
  disaster: ["apps/server", "apps/cli"],
  "perf-write-cpu": ["apps/server"],
  "chart-members": ["apps/server", "apps/cli"],
};

/** @param tools what each does, by file */
function group(title: string, tools: Readonly<Record<string, string>>): ToolGroup {
  return {
    title,
    tools: Object.entries(tools).map(([file, does]) => {
      const name = NAMES[file] ?? basename(file, ".ts");
      return { name, file, does, builds: BUILDS[name] ?? [] };
    }),
  };
}

export const TOOL_GROUPS: readonly ToolGroup[] = [
  group("Beside Apache ZooKeeper and other clients", {
    "packages/conformance/src/foreign.ts": "other clients on Apache ZooKeeper and on Zooid, with equal transcripts",
    "packages/conformance/src/old-apache.ts": "our client and recipes on old versions of Apache ZooKeeper",
    "packages/conformance/src/security/kerberos.ts":
      "ZooKeeper's Java client authenticates by Kerberos, with Debian's KDC",
    "packages/conformance/src/systems/kafka/kafka.ts":
      "Kafka on an ensemble of each, through deaths and restarts of servers and brokers",
    "packages/conformance/src/systems/solr/solr.ts":
      "SolrCloud on an ensemble of each, through deaths and restarts of servers and of the overseer",
    "packages/conformance/src/differential/differential.ts":
      "random conversations with both servers, compared packet by packet",
    "packages/conformance/src/reconfig/reconfig-comparison.ts":
      "reconfig, by plain requests and by kazoo, go-zookeeper and Curator, on ensembles of both servers, compared",
    "packages/conformance/src/members/members-differential.ts":
      "random acts of operators on members, on an ensemble of each, compared after each act (Java, Maven)",
    "packages/trials/src/config-differential/config-differential.ts":
      "random configuration files for both servers: which start, with which values and ports (Java, Maven)",
    "packages/trials/src/apache-import/apache-import.ts":
      "zooid-server import of an Apache server that is killed under load, and export back, compared node by node (Java, Maven)",
    "packages/trials/src/apache-import/apache-move.ts":
      "a stopped Apache ensemble is imported under clients of ours, kazoo and Java's, which keep sessions, nodes and locks (Java, Maven, Python)",
    "packages/trials/src/apache-follow/apache-follow.ts":
      "Apache ensembles of several versions followed as an observer, under load, kills and pauses (Java, Maven)",
    "packages/trials/src/apache-follow/apache-follow-server.ts":
      "zooid-server follow beside Apache ensembles, under load and kills, compared node by node (Java, Maven)",
    "packages/trials/src/apache-follow/apache-follow-full-disk.ts":
      "zooid-server follow, whose disk fills, beside an Apache ensemble under load (Java, Maven)",
    "packages/trials/src/apache-migrate/apache-migrate.ts":
      "zooid-cli migrate check and compare at Apache ensembles: each finding and each difference is found, and no other (Java, Maven)",
    "packages/trials/src/apache-take-over/apache-take-over.ts":
      "zooid-cli migrate take-over and abort at Apache ensembles, under clients of ours, kazoo and Java's; commands fail, and the process is killed (Java, Maven, Python)",
    "packages/trials/src/apache-return/apache-return.ts":
      "zooid-cli migrate take-over and return, back and forth at one Apache ensemble, under clients of ours, kazoo and Java's; the process is killed (Java, Maven, Python)",
    "packages/trials/src/estates/start-estates.ts":
      "every zoo.cfg of the shapes that images, charts and manuals write: all its members serve (Linux, openssl, Java)",
    "packages/conformance/src/reconfig/reconfig-sequence.ts":
      "3, 5, 3, 1 and 3 servers by zkCli, by zooid-cli reconfig with equal output, and by zooid-cli member",
    "packages/conformance/src/cli/cli-comparison.ts": "zkCli and zooid-cli, every command, line by line",
    "packages/trials/src/monitoring/prometheus.ts":
      "Prometheus scrapes three servers under load and faults, and answers every expression of our boards and alerts, and of public ones (prometheus, openssl)",
    "packages/trials/src/compare-clients/compare-clients.ts":
      "our client beside node-zookeeper-client and npm's zookeeper",
  }),
  group("Faults on real processes", {
    "packages/trials/src/history/history-rounds.ts":
      "kill -9 of a server that keeps its history; past states must agree with clients' answers",
    "packages/trials/src/faults/restore-rounds.ts":
      "states of the past restored in an ensemble under writes, its servers killed meanwhile; one history must be continued, as a whole",
    "packages/trials/src/kubernetes/kubernetes.ts":
      "the Helm chart on Kubernetes itself: rolled, evicted, grown, shrunk, healed, other certificates, while a client writes (Go, root)",
    "packages/trials/src/kubernetes/chart-members.ts":
      "pods come and go, and the hooks of the Helm chart give and take their votes, while a client writes (Linux, root)",
    "packages/trials/src/history/history-full-disk.ts":
      "a disk that fills costs the history a gap that it reports, and no write (root)",
    "packages/trials/src/history/history-moments.ts":
      "past states of an ensemble by zxids and times, over killed leaders and clocks that are set",
    "packages/trials/src/history/backup-rounds.ts":
      "an ensemble and the S3 service that it is backed up to are killed; the service is away, or refuses its secret (Go)",
    "packages/trials/src/history/changes-consumer.ts":
      "a consumer of changes and its servers are killed; its changes must agree with clients' answers, once and in order",
    "packages/trials/src/history/archive-damage.ts":
      "flipped bits and removed files in a backup and in an archive: each is named, and none restored in silence",
    "packages/trials/src/faults/kill-loop.ts": "kill -9 under load; what was acknowledged must be there",
    "packages/trials/src/faults/disk-errors.ts": "single calls to the system that fail",
    "packages/trials/src/faults/bit-flips.ts": "one flipped bit in each kind of file of the store",
    "packages/trials/src/faults/power-cut.ts": "the disk as a power cut would leave it",
    "packages/trials/src/faults/power-cut-calls.ts":
      "a power cut after each call of a roll, a checkpoint, an install, a reconfiguration, with every subset of the last unsynced calls",
    "packages/simulator/src/mutants/main.ts":
      "generated mutations of zab, election, replica and data-tree, each against seeds; also npm run mutate",
    "tools/mutants/main.ts": "generated mutations around the replication, each against the tests that import its file",
    "packages/trials/src/faults/round-trips.ts":
      "random histories through the server and its real files, each start compared with the answers",
    "packages/trials/src/faults/ensemble-kill.ts": "members killed, stopped or frozen under load",
    "packages/trials/src/faults/ensemble-transfer.ts": "leadership transferred from member to member under load",
    "packages/trials/src/faults/ensemble-net.ts": "partitions, and leaders that are deaf, mute or paused (root)",
    "packages/trials/src/faults/ensemble-join.ts": "a follower that begins with an empty disk",
    "packages/trials/src/faults/ensemble-founding.ts":
      "a majority without its disks, beside a server with data that is reached late",
    "packages/trials/src/faults/ensemble-replace.ts": "all servers replaced under load, one at a time",
    "packages/trials/src/faults/ensemble-grow.ts":
      "3, 4, 5, 4 and 3 servers, then 5 at once, by edited files and restarts under load; the leader is killed in each step",
    "packages/trials/src/faults/ensemble-move.ts":
      "hosts renamed and ports moved under load, by the commands of docs/operations.md",
    "packages/trials/src/faults/ensemble-secure.ts":
      "a shared secret and TLS between servers turned on, renewed and off under load, by the steps of docs/security.md",
    "packages/trials/src/faults/ensemble-upgrade.ts":
      "another version rolled to this one and back, or this one to the next, one server at a time, under load (git, Python)",
    "packages/trials/src/upgrade/keep-released-data.ts":
      "keeps a data directory of this version for the tests of later ones, at each release of a feature level",
    "packages/trials/src/faults/ensemble-full-disk.ts": "a disk that fills",
    "packages/trials/src/doctor/doctor-setups.ts":
      "set-ups with one thing wrong, named by zooid-server check or zooid-cli doctor, and mended by the remedy (root, openssl)",
    "packages/trials/src/faults/recover-kill.ts":
      "zooid-server recover, killed and cut off at many moments: the old member or the new ensemble is left",
    "packages/trials/src/disaster/disaster.ts":
      "the procedures of docs/disaster.md and docs/operations.md as they are written, on machines of their own (root)",
    "packages/trials/src/recipe-rounds/main.ts": "locks and elections while connections, sessions and servers fail",
    "packages/recipes/src/testing/leak-cycles-main.ts": "ten thousand rounds of each recipe leave nothing behind",
  }),
  group("Hostile clients", {
    "packages/trials/src/attacks/attacks.ts": "known attacks, and what another client sees meanwhile",
    "packages/trials/src/attacks/soak.ts": "many sessions and watches for hours; live memory must stay flat",
    "packages/trials/src/attacks/door-leaks.ts":
      "connections that break off at every door; memory, handles and files must stay flat",
    "packages/trials/src/fuzz/fuzz.ts":
      "damaged input for everything that reads what strangers send; also npm run fuzz",
    "packages/trials/src/text-parsers/text-parsers.ts": "random texts for everything that parses texts",
    "packages/trials/src/cost-search/door-search.ts":
      "what holds an event loop longest at the doors beside clients' requests",
    "packages/trials/src/cost-search/cost-search.ts": "looks for the requests that cost a server most",
  }),
  group("Performance", {
    "packages/trials/src/perf/allocations.ts": "what a read or a write allocates",
    "packages/trials/src/request-traces/trace-request.ts": "functions, calls and files of a read, a write and a watch",
    "packages/trials/src/perf/million.ts": "memory and times with a million znodes",
    "packages/trials/src/perf/past-reads.ts":
      "nodes of the past and pages of changes, over a million changes in 20 files of a history",
    "packages/trials/src/perf/changes-streams.ts":
      "what a thousand streams of changes cost the writes beside them, compared with plain watches",
    "packages/trials/src/perf/history-writes.ts":
      "what a history and its backup cost writes, compared with a server without them",
    "packages/trials/src/perf/archive-cpu.ts": "what the archive of a history costs for each entry, by stage",
    "packages/trials/src/perf/child-pages.ts":
      "a million children in pages while a thousand change, and the pings beside",
    "packages/trials/src/perf/beside.ts":
      "reads and writes beside Apache ZooKeeper and etcd, in turn (Java, Maven, Go)",
    "packages/trials/src/perf/broadcast.ts": "broadcast without clients",
    "packages/trials/src/perf/ensemble-shapes.ts": "ensembles of several shapes under load",
    "packages/trials/src/perf/handovers.ts": "how long locks and leadership take to change hands",
    "packages/trials/src/perf/write-cpu.ts": "where the CPU of a write goes, by layer",
  }),
  group("Sources and packages", {
    "tools/image/image.ts":
      "builds the container image and tries it: three members, kazoo, Kafka, a rolling update (podman, debootstrap, root)",
    "tools/debian/debian.ts":
      "builds the Debian package, and tries it under systemd: killed, upgraded, purged (podman, debootstrap, root)",
    "tools/alerts/alerts.ts": "the alerts in deploy/prometheus, from their table: each fires and is quiet (promtool)",
    "tools/metric-names/metric-names.ts": "names of metrics by Prometheus' rules (promtool, openssl)",
    "tools/dashboards/dashboards.ts": "the boards of Grafana in deploy/grafana, from their tables",
    "tools/chart/chart.ts":
      "the Helm chart: what it renders is valid, keeps its rules, and is what deploy/kubernetes has (Go, Python)",
    "tools/first-hour/first-hour.ts":
      "the README and the guide followed by a stranger: each block in a clean copy, its output compared (Linux, root, script)",
    "tools/reference-pages/reference-pages.ts": "docs/settings.md and docs/log-events.md, from the code",
    "tools/generate-protobuf-code.ts": "the gen folders, from peer.proto and txn.proto",
  }),
];
