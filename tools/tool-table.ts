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
        file: "packages/conformance/src/kerberos.ts",
        does: "ZooKeeper's Java client authenticates by Kerberos, with Debian's KDC",
      },
      {
        name: "kafka",
        file: "packages/conformance/src/kafka.ts",
        does: "Kafka on an ensemble of each, through deaths and restarts of servers and brokers",
      },
      {
        name: "differential",
        file: "packages/conformance/src/differential.ts",
        does: "random conversations with both servers, compared packet by packet",
      },
      {
        name: "reconfig-comparison",
        file: "packages/conformance/src/reconfig-comparison.ts",
        does: "reconfig, by plain requests and by kazoo, go-zookeeper and Curator, on ensembles of both servers, compared",
      },
      {
        name: "members-differential",
        file: "packages/conformance/src/members-differential.ts",
        does: "random acts of operators on members, on an ensemble of each, compared after each act (Java, Maven)",
      },
      {
        name: "config-differential",
        file: "tools/config-differential/config-differential.ts",
        does: "random configuration files for both servers: which start, with which values and ports (Java, Maven)",
      },
      {
        name: "estates",
        file: "tools/estates/start-estates.ts",
        does: "every zoo.cfg of the shapes that images, charts and manuals write: all its members serve (Linux, openssl, Java)",
      },
      {
        name: "reconfig-sequence",
        file: "packages/conformance/src/reconfig-sequence.ts",
        does: "3, 5, 3, 1 and 3 servers by zkCli, by zooid-cli reconfig with equal output, and by zooid-cli member",
      },
      {
        name: "cli-comparison",
        file: "packages/conformance/src/cli-comparison.ts",
        does: "zkCli and zooid-cli, every command, line by line",
      },
      {
        name: "compare-clients",
        file: "tools/compare-clients/compare-clients.ts",
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
        file: "tools/faults/kill-loop.ts",
        does: "kill -9 under load; what was acknowledged must be there",
      },
      { name: "disk-errors", file: "tools/faults/disk-errors.ts", does: "single calls to the system that fail" },
      {
        name: "bit-flips",
        file: "tools/faults/bit-flips.ts",
        does: "one flipped bit in each kind of file of the store",
      },
      { name: "power-cut", file: "tools/faults/power-cut.ts", does: "the disk as a power cut would leave it" },
      {
        name: "power-cut-calls",
        file: "tools/faults/power-cut-calls.ts",
        does: "a power cut after each call of a roll, a checkpoint, an install, a reconfiguration, with every subset of the last unsynced calls",
      },
      {
        name: "mutate-tests",
        file: "tools/mutants/main.ts",
        does: "generated mutations around the replication, each against the tests that import its file",
      },
      {
        name: "round-trips",
        file: "tools/faults/round-trips.ts",
        does: "random histories through the server and its real files, each start compared with the answers",
      },
      {
        name: "ensemble-kill",
        file: "tools/faults/ensemble-kill.ts",
        does: "members killed, stopped or frozen under load",
      },
      {
        name: "ensemble-net",
        file: "tools/faults/ensemble-net.ts",
        does: "partitions, and leaders that are deaf, mute or paused (root)",
      },
      {
        name: "ensemble-join",
        file: "tools/faults/ensemble-join.ts",
        does: "a follower that begins with an empty disk",
      },
      {
        name: "ensemble-founding",
        file: "tools/faults/ensemble-founding.ts",
        does: "a majority without its disks, beside a server with data that is reached late",
      },
      {
        name: "ensemble-replace",
        file: "tools/faults/ensemble-replace.ts",
        does: "all servers replaced under load, one at a time",
      },
      {
        name: "ensemble-grow",
        file: "tools/faults/ensemble-grow.ts",
        does: "3, 4, 5, 4 and 3 servers, then 5 at once, by edited files and restarts under load; the leader is killed in each step",
      },
      {
        name: "ensemble-move",
        file: "tools/faults/ensemble-move.ts",
        does: "hosts renamed and ports moved under load, by the commands of docs/operations.md",
      },
      {
        name: "ensemble-secure",
        file: "tools/faults/ensemble-secure.ts",
        does: "a shared secret and TLS between servers turned on, renewed and off under load, by the steps of docs/security.md",
      },
      {
        name: "ensemble-upgrade",
        file: "tools/faults/ensemble-upgrade.ts",
        does: "another version rolled to this one and back, one server at a time, under load (git, Python)",
      },
      { name: "ensemble-full-disk", file: "tools/faults/ensemble-full-disk.ts", does: "a disk that fills" },
      {
        name: "recover-kill",
        file: "tools/faults/recover-kill.ts",
        does: "zooid-server recover, killed and cut off at many moments: the old member or the new ensemble is left",
        builds: ["apps/server"],
      },
      {
        name: "disaster",
        file: "tools/disaster/disaster.ts",
        does: "the procedures of docs/disaster.md and docs/operations.md as they are written, on machines of their own (root)",
        builds: ["apps/server", "apps/cli"],
      },
      {
        name: "recipe-rounds",
        file: "tools/recipe-rounds/main.ts",
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
        file: "tools/attacks/attacks.ts",
        does: "known attacks, and what another client sees meanwhile",
      },
      {
        name: "soak",
        file: "tools/attacks/soak.ts",
        does: "many sessions and watches for hours; live memory must stay flat",
      },
      {
        name: "door-leaks",
        file: "tools/attacks/door-leaks.ts",
        does: "connections that break off at every door; memory, handles and files must stay flat",
      },
      {
        name: "text-parsers",
        file: "tools/text-parsers/text-parsers.ts",
        does: "random texts for everything that parses texts",
      },
      {
        name: "door-search",
        file: "tools/cost-search/door-search.ts",
        does: "what holds an event loop longest at the doors beside clients' requests",
      },
      {
        name: "cost-search",
        file: "tools/cost-search/cost-search.ts",
        does: "looks for the requests that cost a server most",
      },
    ],
  },
  {
    title: "Performance",
    tools: [
      { name: "perf-allocations", file: "tools/perf/allocations.ts", does: "what a read or a write allocates" },
      { name: "perf-million", file: "tools/perf/million.ts", does: "memory and times with a million znodes" },
      {
        name: "perf-child-pages",
        file: "tools/perf/child-pages.ts",
        does: "a million children in pages while a thousand change, and the pings beside",
      },
      {
        name: "perf-beside",
        file: "tools/perf/beside.ts",
        does: "reads and writes beside Apache ZooKeeper and etcd, in turn (Java, Maven, Go)",
      },
      { name: "perf-broadcast", file: "tools/perf/broadcast.ts", does: "broadcast without clients" },
      { name: "perf-shapes", file: "tools/perf/ensemble-shapes.ts", does: "ensembles of several shapes under load" },
      {
        name: "perf-handovers",
        file: "tools/perf/handovers.ts",
        does: "how long locks and leadership take to change hands",
      },
      {
        name: "perf-write-cpu",
        file: "tools/perf/write-cpu.ts",
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
