/**
 * What `npm run tool` runs: programs that are needed now and then, each a file with a comment of
 * its own on its options.
 */
export interface Tool {
  readonly name: string;
  readonly file: string;
  readonly does: string;
  /**
   * What is built before it runs, where it starts built processes. The tool itself takes the
   * packages from their sources.
   */
  readonly builds?: readonly string[];
}

export interface ToolGroup {
  readonly title: string;
  readonly tools: readonly Tool[];
}

export const TOOL_GROUPS: readonly ToolGroup[] = [
  {
    title: "Beside Apache ZooKeeper and other clients",
    tools: [
      {
        name: "foreign",
        file: "packages/conformance/src/foreign.ts",
        does: "other clients on Apache ZooKeeper and on Zooid, with equal transcripts",
      },
      {
        name: "foreign-old",
        file: "packages/conformance/src/old-apache.ts",
        does: "our client and recipes on old versions of Apache ZooKeeper",
      },
      {
        name: "kerberos",
        file: "packages/conformance/src/security/kerberos.ts",
        does: "ZooKeeper's Java client authenticates by Kerberos, with Debian's KDC",
      },
      {
        name: "kafka",
        file: "packages/conformance/src/kafka/kafka.ts",
        does: "Kafka on an ensemble of each, through deaths and restarts of servers and brokers",
      },
      {
        name: "differential",
        file: "packages/conformance/src/differential/differential.ts",
        does: "random conversations with both servers, compared packet by packet",
      },
      {
        name: "reconfig-comparison",
        file: "packages/conformance/src/reconfig/reconfig-comparison.ts",
        does: "reconfig, by plain requests and by kazoo, go-zookeeper and Curator, on ensembles of both servers, compared",
      },
      {
        name: "members-differential",
        file: "packages/conformance/src/members/members-differential.ts",
        does: "random acts of operators on members, on an ensemble of each, compared after each act (Java, Maven)",
      },
      {
        name: "config-differential",
        file: "packages/trials/src/config-differential/config-differential.ts",
        does: "random configuration files for both servers: which start, with which values and ports (Java, Maven)",
      },
      {
        name: "estates",
        file: "packages/trials/src/estates/start-estates.ts",
        does: "every zoo.cfg of the shapes that images, charts and manuals write: all its members serve (Linux, openssl, Java)",
      },
      {
        name: "reconfig-sequence",
        file: "packages/conformance/src/reconfig/reconfig-sequence.ts",
        does: "3, 5, 3, 1 and 3 servers by zkCli, by zooid-cli reconfig with equal output, and by zooid-cli member",
      },
      {
        name: "cli-comparison",
        file: "packages/conformance/src/cli/cli-comparison.ts",
        does: "zkCli and zooid-cli, every command, line by line",
      },
      {
        name: "compare-clients",
        file: "packages/trials/src/compare-clients/compare-clients.ts",
        does: "our client beside node-zookeeper-client and npm's zookeeper",
        builds: ["packages/client", "apps/server"],
      },
    ],
  },
  {
    title: "Faults on real processes",
    tools: [
      {
        name: "kill-loop",
        file: "packages/trials/src/faults/kill-loop.ts",
        does: "kill -9 under load; what was acknowledged must be there",
      },
      {
        name: "disk-errors",
        file: "packages/trials/src/faults/disk-errors.ts",
        does: "single calls to the system that fail",
      },
      {
        name: "bit-flips",
        file: "packages/trials/src/faults/bit-flips.ts",
        does: "one flipped bit in each kind of file of the store",
      },
      {
        name: "power-cut",
        file: "packages/trials/src/faults/power-cut.ts",
        does: "the disk as a power cut would leave it",
      },
      {
        name: "power-cut-calls",
        file: "packages/trials/src/faults/power-cut-calls.ts",
        does: "a power cut after each call of a roll, a checkpoint, an install, a reconfiguration, with every subset of the last unsynced calls",
      },
      {
        name: "mutate",
        file: "packages/simulator/src/mutants/main.ts",
        does: "generated mutations of zab, election, replica and data-tree, each against seeds; also npm run mutate",
      },
      {
        name: "mutate-tests",
        file: "tools/mutants/main.ts",
        does: "generated mutations around the replication, each against the tests that import its file",
      },
      {
        name: "round-trips",
        file: "packages/trials/src/faults/round-trips.ts",
        does: "random histories through the server and its real files, each start compared with the answers",
      },
      {
        name: "ensemble-kill",
        file: "packages/trials/src/faults/ensemble-kill.ts",
        does: "members killed, stopped or frozen under load",
      },
      {
        name: "ensemble-net",
        file: "packages/trials/src/faults/ensemble-net.ts",
        does: "partitions, and leaders that are deaf, mute or paused (root)",
      },
      {
        name: "ensemble-join",
        file: "packages/trials/src/faults/ensemble-join.ts",
        does: "a follower that begins with an empty disk",
      },
      {
        name: "ensemble-founding",
        file: "packages/trials/src/faults/ensemble-founding.ts",
        does: "a majority without its disks, beside a server with data that is reached late",
      },
      {
        name: "ensemble-replace",
        file: "packages/trials/src/faults/ensemble-replace.ts",
        does: "all servers replaced under load, one at a time",
      },
      {
        name: "ensemble-grow",
        file: "packages/trials/src/faults/ensemble-grow.ts",
        does: "3, 4, 5, 4 and 3 servers, then 5 at once, by edited files and restarts under load; the leader is killed in each step",
      },
      {
        name: "ensemble-move",
        file: "packages/trials/src/faults/ensemble-move.ts",
        does: "hosts renamed and ports moved under load, by the commands of docs/operations.md",
      },
      {
        name: "ensemble-secure",
        file: "packages/trials/src/faults/ensemble-secure.ts",
        does: "a shared secret and TLS between servers turned on, renewed and off under load, by the steps of docs/security.md",
      },
      {
        name: "ensemble-upgrade",
        file: "packages/trials/src/faults/ensemble-upgrade.ts",
        does: "another version rolled to this one and back, one server at a time, under load (git, Python)",
      },
      {
        name: "ensemble-full-disk",
        file: "packages/trials/src/faults/ensemble-full-disk.ts",
        does: "a disk that fills",
      },
      {
        name: "recover-kill",
        file: "packages/trials/src/faults/recover-kill.ts",
        does: "zooid-server recover, killed and cut off at many moments: the old member or the new ensemble is left",
        builds: ["apps/server"],
      },
      {
        name: "disaster",
        file: "packages/trials/src/disaster/disaster.ts",
        does: "the procedures of docs/disaster.md and docs/operations.md as they are written, on machines of their own (root)",
        builds: ["apps/server", "apps/cli"],
      },
      {
        name: "recipe-rounds",
        file: "packages/trials/src/recipe-rounds/main.ts",
        does: "locks and elections while connections, sessions and servers fail",
      },
      {
        name: "leak-cycles",
        file: "packages/recipes/src/testing/leak-cycles-main.ts",
        does: "ten thousand rounds of each recipe leave nothing behind",
      },
    ],
  },
  {
    title: "Hostile clients",
    tools: [
      {
        name: "attacks",
        file: "packages/trials/src/attacks/attacks.ts",
        does: "known attacks, and what another client sees meanwhile",
      },
      {
        name: "soak",
        file: "packages/trials/src/attacks/soak.ts",
        does: "many sessions and watches for hours; live memory must stay flat",
      },
      {
        name: "door-leaks",
        file: "packages/trials/src/attacks/door-leaks.ts",
        does: "connections that break off at every door; memory, handles and files must stay flat",
      },
      {
        name: "fuzz",
        file: "packages/trials/src/fuzz/fuzz.ts",
        does: "damaged input for everything that reads what strangers send; also npm run fuzz",
      },
      {
        name: "text-parsers",
        file: "packages/trials/src/text-parsers/text-parsers.ts",
        does: "random texts for everything that parses texts",
      },
      {
        name: "door-search",
        file: "packages/trials/src/cost-search/door-search.ts",
        does: "what holds an event loop longest at the doors beside clients' requests",
      },
      {
        name: "cost-search",
        file: "packages/trials/src/cost-search/cost-search.ts",
        does: "looks for the requests that cost a server most",
      },
    ],
  },
  {
    title: "Performance",
    tools: [
      {
        name: "perf-allocations",
        file: "packages/trials/src/perf/allocations.ts",
        does: "what a read or a write allocates",
      },
      {
        name: "trace-request",
        file: "packages/trials/src/request-traces/trace-request.ts",
        does: "functions, calls and files of a read, a write and a watch",
      },
      {
        name: "perf-million",
        file: "packages/trials/src/perf/million.ts",
        does: "memory and times with a million znodes",
      },
      {
        name: "perf-child-pages",
        file: "packages/trials/src/perf/child-pages.ts",
        does: "a million children in pages while a thousand change, and the pings beside",
      },
      {
        name: "perf-beside",
        file: "packages/trials/src/perf/beside.ts",
        does: "reads and writes beside Apache ZooKeeper and etcd, in turn (Java, Maven, Go)",
      },
      { name: "perf-broadcast", file: "packages/trials/src/perf/broadcast.ts", does: "broadcast without clients" },
      {
        name: "perf-shapes",
        file: "packages/trials/src/perf/ensemble-shapes.ts",
        does: "ensembles of several shapes under load",
      },
      {
        name: "perf-handovers",
        file: "packages/trials/src/perf/handovers.ts",
        does: "how long locks and leadership take to change hands",
      },
      {
        name: "perf-write-cpu",
        file: "packages/trials/src/perf/write-cpu.ts",
        does: "where the CPU of a write goes, by layer",
        builds: ["apps/server"],
      },
    ],
  },
  {
    title: "Sources and packages",
    tools: [
      {
        name: "image",
        file: "tools/image/image.ts",
        does: "builds the container image and tries it: three members, kazoo, Kafka, a rolling update (podman, debootstrap, root)",
      },
      {
        name: "first-hour",
        file: "tools/first-hour/first-hour.ts",
        does: "the README and the guide followed by a stranger: each block in a clean copy, its output compared (Linux, root, script)",
      },
      {
        name: "reference-pages",
        file: "tools/reference-pages/reference-pages.ts",
        does: "docs/settings.md and docs/log-events.md, from the code",
      },
      {
        name: "generate",
        file: "tools/generate-protobuf-code.ts",
        does: "the gen folders, from peer.proto and txn.proto",
      },
    ],
  },
];
