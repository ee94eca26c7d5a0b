/**
 * `zooid-server follow` beside Apache ensembles of three servers, under load, killed and compared.
 *
 *     npm run tool -- apache-follow-server [--version 3.9.5]… [--kills 2] [--leader-kills 1]
 *         [--leader-kill-every-s 0] [--snapshots 2] [--cuts 2] [--load-ms 2000] [--transactions 0]
 *         [--writes-s 0] [--clients 4] [--deadline-s 60] [--too-old] [--seed N] [--keep]
 *
 * For each version: the follower joins under load, by a snapshot; is killed by SIGKILL under load
 * and continues without one; is away long enough for a snapshot under load, and is killed while
 * one comes; is cut off from the ensemble for as long, and gets a snapshot at each of `--cuts`;
 * sees the leader killed, at most once in `--leader-kill-every-s`; has a second follower beside
 * it. The load continues until `--transactions` were followed. Then every node, Stat and access
 * list of its tree must be that of the leader, and from 3.6 on each digest since the last snapshot
 * must have been equal. Apache's own servers can differ once leaders were killed: then no further
 * one is killed, and one server must have the follower's tree. With `--writes-s`, 16 MB/s are then
 * written for that long to servers with 256 MB of heap, while the follower is paused, slowed and
 * killed. With `--too-old` an ensemble of 3.4 is followed first, which must be refused.
 * `--deadline-s` is the maximum of each wait. Needs Java and Maven.
 */
import { equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, texts, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";
import { setDeadline, until } from "./event-reader.ts";
import { compareTrees, equalServers, reachedLeader, serverIn, startedLoad } from "./followed-ensemble.ts";
import { FollowerProcess, type FollowerStatus } from "./follower-process.ts";
import { FATAL, followThroughFaults } from "./heavy-writes.ts";
import { QuorumWays } from "./quorum-ways.ts";
import { refuseOldEnsemble } from "./refused-ensembles.ts";

const VERSIONS = ["3.9.5", "3.8.6", "3.7.2", "3.6.4", "3.5.10"];
const SIDS = [1, 2, 3];
const SESSION_MS = 40_000;
/** More than the leader has in memory. */
const FAR_BEHIND = 700;
/** Missed writes that the leader still has: it keeps 500 transactions. */
const FEW = 300;
/** An Apache server finds that its tree is not that of its leader. */
const OWN_DIFFERENCE = /Digests are not matching/;
/** A leader that lacks a transaction in memory sends a snapshot, and containers are reaped soon. */
const PROPERTIES = [
  "-Dzookeeper.snapshotSizeFactor=-1",
  "-Dzookeeper.extendedTypesEnabled=true",
  "-Dznode.container.checkIntervalMs=500",
  "-Dfile.encoding=UTF-8",
];

const options = toolOptions({
  version: texts,
  kills: whole(2, 0),
  "leader-kills": whole(1, 0),
  "leader-kill-every-s": whole(0, 0),
  snapshots: whole(2, 0),
  cuts: whole(2, 0),
  "load-ms": whole(2000, 100),
  transactions: whole(0, 0),
  "writes-s": whole(0, 0),
  clients: whole(4, 1),
  "deadline-s": whole(60, 1),
  "too-old": false,
  seed: newSeed(),
  keep: false,
});
setDeadline(options["deadline-s"] * 1000);
const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "apache-follow-server-"));
const versions = options.version.length > 0 ? options.version : VERSIONS;
let failure: unknown;
console.log(`seed ${options.seed}, data in ${folder}`);
try {
  if (options["too-old"]) await step("an ensemble of 3.4", () => refuseOldEnsemble(join(folder, "old")));
  for (const version of versions) {
    await runVersion(version);
    if (options["writes-s"] > 0)
      await step(`16 MB/s at ${version}`, () =>
        followThroughFaults(version, join(folder, `${version}-writes`), options["writes-s"]),
      );
  }
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.stack : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? `${versions.length} versions passed` : "FAILED");
process.exit(failure === undefined ? 0 : 1);

async function runVersion(version: string): Promise<void> {
  const ports = await freePorts(11);
  const place = join(folder, version);
  await using apache = new Side({
    kind: "apache",
    folder: place,
    ports,
    sids: SIDS,
    jars: fetchApacheJars(version),
    sessionMs: SESSION_MS,
    properties: PROPERTIES,
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  await using ways = await QuorumWays.to(ports.slice(3, 6));
  const hosts = ways.hosts;
  await using follower = new FollowerProcess(join(place, "follower"), hosts, ports[9] ?? 0);
  let [transactions, digests] = [0, 0];
  const count = (status: FollowerStatus): void => {
    transactions += status.transactions;
    digests += status.digests_compared;
  };
  const load = await startedLoad(random, await serverIn(apache, "follower"), options.clients);

  await step("joins under load", async () => {
    follower.launch();
    const { snapshots } = await follower.reached(isFollowing);
    await delay(options["load-ms"]);
    return `${snapshots} snapshot`;
  });

  for (let kill = 1; kill <= options.kills; kill++) {
    await step("is killed, and continues", async () => {
      count(await follower.reached(isFollowing));
      await follower.kill();
      const { answered } = load;
      await delay(random.between(0, 200));
      follower.launch();
      const { snapshots } = await follower.reached(isFollowing);
      const missed = load.answered - answered;
      ok(snapshots === 0 || missed > FEW, `${snapshots} snapshots came where ${missed} writes were missed`);
      await delay(options["load-ms"]);
      return `${missed} writes were missed, ${snapshots} snapshots`;
    });
  }

  for (let round = 1; round <= options.snapshots; round++) {
    await step("gets a snapshot under load, killed in between", async () => {
      count(await follower.reached(isFollowing));
      await follower.stop();
      const { answered } = load;
      await until(() => load.answered > answered + FAR_BEHIND);
      follower.launch();
      await delay(random.between(100, 1200));
      await follower.kill();
      const again = load.answered;
      await until(() => load.answered > again + FAR_BEHIND);
      follower.launch();
      const { snapshots } = await follower.reached((status) => isFollowing(status) && status.transactions > 0);
      return `${snapshots} snapshots`;
    });
  }

  for (let cut = 1; cut <= options.cuts; cut++) {
    await step("is cut off, and gets a snapshot under load", async () => {
      const before = await follower.reached(isFollowing);
      await ways.become("refused");
      const { answered } = load;
      await until(() => load.answered > answered + FAR_BEHIND);
      await ways.become("open");
      const { digest, snapshots } = await follower.reached(
        (status) => isFollowing(status) && status.snapshots > before.snapshots && hasVerdict(version, status),
      );
      return `${snapshots} snapshots, digests: ${digest}`;
    });
  }

  let killedMs = Number.NEGATIVE_INFINITY;
  let hasDifference = false;
  for (let kill = 1; kill <= options["leader-kills"]; kill++) {
    await step("sees the leader killed", async () => {
      const { resyncs } = await follower.reached(isFollowing);
      const leader = await reachedLeader(apache);
      await delay(Math.max(0, killedMs + options["leader-kill-every-s"] * 1000 - performance.now()));
      killedMs = performance.now();
      await leader.kill();
      await follower.reached((status) => status.resyncs > resyncs && isFollowing(status));
      const backMs = performance.now() - killedMs;
      await leader.start();
      const { answered } = load;
      await until(() => load.answered > answered);
      await delay(options["load-ms"]);
      return `followed again after ${Math.round(backMs)} ms`;
    });
    const { digest } = await follower.reached((status) => isFollowing(status) && hasVerdict(version, status));
    if (digest !== "different") continue;
    ok(
      apache.servers.some((server) => OWN_DIFFERENCE.test(server.log())),
      "the follower differs from Apache, whose servers do not differ among themselves",
    );
    hasDifference = true;
    console.log(`  Apache's own servers differ after ${kill} kills`);
    break;
  }

  if (options.transactions > 0)
    await step("follows on", async () => {
      for (;;) {
        const status = await follower.status();
        if (status !== undefined && transactions + status.transactions >= options.transactions) return "";
        await delay(500);
      }
    });

  await using second = new FollowerProcess(join(place, "second"), hosts, ports[10] ?? 0);
  await step("has a second follower beside it, with the same number", async () => {
    const { resyncs } = await follower.reached(isFollowing);
    second.launch();
    await second.reached((status) => isFollowing(status) && hasVerdict(version, status));
    await delay(options["load-ms"]);
    equal((await follower.reached(isFollowing)).resyncs, resyncs, "the first follower's link has ended");
  });

  await step("has the same tree", async () => {
    await load.end();
    await compareTrees(apache, second);
    await second.stop();
    if (!hasDifference) return await compareTrees(apache, follower);
    const equal = await equalServers(apache, follower);
    ok(equal.length > 0, "no server has the follower's tree");
    return `that of the servers ${equal.join(", ")}`;
  });
  for (const server of apache.servers) ok(!FATAL.test(server.log()), "an error that ends a server is in its log");
  const last = await follower.reached(isFollowing);
  count(last);
  const hasDigests = !version.startsWith("3.5.");
  if (!hasDifference) ok(last.digest === (hasDigests ? "equal" : "none"), `digests: ${last.digest}`);
  ok(!hasDigests || digests > 0, "no digest was compared");
  const compared = hasDigests ? `${digests} digests compared, the last ones equal` : "which have no digests";
  console.log(`${version}: ${transactions} transactions, ${compared}`);
}

/** From 3.6 on a digest was compared since the last snapshot. */
function hasVerdict(version: string, { digest }: FollowerStatus): boolean {
  return version.startsWith("3.5.") || digest === "equal" || digest === "different";
}

function isFollowing({ state }: FollowerStatus): boolean {
  return state === "following";
}

async function step(name: string, act: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  const found = await act();
  console.log(
    `  ${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s${typeof found === "string" && found !== "" ? `, ${found}` : ""}`,
  );
}
