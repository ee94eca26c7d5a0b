/**
 * Watches a tree on an Apache server before 3.6, which does not support persistent watches, and
 * compares the reported changes with the actual ones, with `treeWatches` `auto` and `one-shot`.
 * Needs java and mvn.
 *
 *     old-apache.ts [VERSION]        from 3.5 on; default 3.5.9
 */
import { deepStrictEqual } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Client, connect, isConnected, type TreeChange } from "@zooid/client";
import { Relay } from "@zooid/client/testing";
import { filter, firstValueFrom } from "rxjs";
import { fourLetterWord, ROOT, startEndpoint } from "./servers/endpoint.ts";

const [version = "3.5.9"] = process.argv.slice(2);
const WAIT_MS = 20_000;
const jars = execFileSync(join(ROOT, "tools/fetch-apache-zookeeper.sh"), [version], { encoding: "utf8" }).trim();
await using server = await startEndpoint("apache", jars);
for (const treeWatches of ["auto", "one-shot"] as const) await play(treeWatches);

async function play(treeWatches: "auto" | "one-shot"): Promise<void> {
  await using relay = await Relay.start(server);
  await using other = await connect(`127.0.0.1:${server.port}`);
  await using zk = await connect(`127.0.0.1:${relay.port}`, { treeWatches });
  const lines: string[] = [];
  const failure = Promise.withResolvers<never>();
  const tree = zk.watchTree$("/t").subscribe({
    next: (change) => lines.push(lineOf(change)),
    error: failure.reject,
  });
  const reports = (...expected: readonly string[]): Promise<void> =>
    Promise.race([reported(lines, expected), failure.promise]);
  await reports("ready");
  await other.create("/t/a", "1", { parents: "persistent" });
  await reports("created /t ", "created /t/a 1");
  await other.set("/t/a", "2");
  await reports("changed /t/a 2");
  await other.transaction().delete("/t/a").create("/t/a", "3").commit();
  await reports("deleted /t/a 2", "created /t/a 3");
  relay.refuse();
  relay.cut();
  await firstValueFrom(zk.state$.pipe(filter((state) => state.kind === "suspended")));
  await other.set("/t/a", "4");
  await other.create("/t/b/c", "5", { parents: "persistent" });
  relay.accept();
  await reports("changed /t/a 4", "created /t/b ", "created /t/b/c 5");
  await other.deleteTree("/t");
  await reports("deleted /t/a 4", "deleted /t/b/c 5", "deleted /t/b ", "deleted /t ");
  await other.create("/t", "6");
  await reports("created /t 6");
  tree.unsubscribe();
  await noWatches(zk);
  // One for the probe with `auto`, one for the cut.
  deepStrictEqual([zk.metrics.connectionCount, zk.metrics.sessionLossCount], [treeWatches === "auto" ? 3 : 2, 0]);
  await other.delete("/t");
  console.log(`passed  trees on apache ${version}, ${treeWatches}: ${zk.metrics.connectionCount} connections`);
}

function lineOf(change: TreeChange): string {
  if (change.kind === "ready") return "ready";
  const { path, data } = change.kind === "deleted" ? change.before : change.node;
  return `${change.kind} ${path} ${Buffer.from(data ?? []).toString()}`;
}

/** Waits for exactly these lines, in any order of the nodes. */
async function reported(lines: string[], expected: readonly string[]): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (lines.length < expected.length && performance.now() < deadline) await turn();
  deepStrictEqual(lines.splice(0).sort(), [...expected].sort());
}

async function noWatches(zk: Client): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  const count = async (): Promise<string | undefined> =>
    /zk_watch_count\s+(\d+)/.exec(await fourLetterWord(server.port, "mntr"))?.[1];
  while ((await count()) !== "0" && performance.now() < deadline) await turn();
  deepStrictEqual([await count(), zk.watchCount, isConnected(zk.state)], ["0", 0, true]);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
