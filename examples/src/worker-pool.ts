/**
 * Shows a pool of workers that divide twelve shards among them: each shard belongs to one worker at
 * a time; when a worker joins or is killed, the shards are divided again.
 *
 *     npm run example examples/src/worker-pool.ts [HOST:PORT]
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "@zooid/client";
import { SetPartitioner } from "@zooid/recipes";
import { isChild, report, reported, startProcess, zookeeper } from "./zookeeper.ts";

const SHARDS = Array.from({ length: 12 }, (_, i) => `shard-${String(i).padStart(2, "0")}`);

if (isChild) await work();
else await direct();

async function work(): Promise<void> {
  const [connectString = "", id = ""] = process.argv.slice(2);
  await using zk = await connect(connectString, { sessionTimeoutMs: 2_000 });
  await using _ = new SetPartitioner(zk, "/examples/pool", {
    id,
    items: SHARDS,
    quietMs: 200,
    work: async (share, signal) => {
      report(share.length);
      console.log(`${id} has ${share.length}: ${share.join(" ")}`);
      // Work on the shards goes here, until the signal announces that they will move to another
      // worker.
      await once(signal, "abort");
    },
  });
  await once(process, "SIGTERM");
}

async function direct(): Promise<void> {
  await using ensemble = await zookeeper();
  const start = (id: string): ChildProcess => startProcess(import.meta.filename, ensemble.connectString, id);
  const workers = ["worker-1", "worker-2", "worker-3"].map(start);
  const have = (count: number): Promise<unknown> =>
    Promise.all(workers.map((worker) => reported<number>(worker, (shards) => shards === count)));
  await have(4);
  console.log("each has a third");
  workers.pop()?.kill("SIGKILL");
  console.log("worker-3 was killed");
  await have(6);
  console.log("each has half");
  const ended = workers.map((worker) => once(worker, "exit"));
  for (const worker of workers) worker.kill();
  await Promise.all(ended);
}
