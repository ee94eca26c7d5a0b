/**
 * Shows a worker that must run only once, and a standby: when the leader is killed, the other takes
 * over as soon as the session of the first has expired, and continues where that one stopped.
 *
 *     npm run example examples/src/leader.ts [HOST:PORT]
 */
import { setTimeout as pause } from "node:timers/promises";
import { connect, text } from "@zooid/client";
import { LeaderSelector, SharedValue } from "@zooid/recipes";
import { isChild, report, reported, startProcess, zookeeper } from "./zookeeper.ts";

const ELECTION = "/examples/leader/election";
const PROGRESS = "/examples/leader/progress";

if (isChild) await work();
else await direct();

async function work(): Promise<void> {
  const [connectString = "", name = ""] = process.argv.slice(2);
  await using zk = await connect(connectString, { sessionTimeoutMs: 2_000 });
  const selector = new LeaderSelector(
    zk,
    ELECTION,
    async (term, signal) => {
      let done = Number(text.decode((await zk.get(PROGRESS)).data));
      console.log(`${name} leads and goes on from step ${done}`);
      while (!signal.aborted) {
        // Fails if another process leads by now, whatever this process assumes.
        await term.guard().set(PROGRESS, String(++done)).commit();
        report(done);
        await pause(50, undefined, { signal }).catch(() => "the term is over");
      }
    },
    { id: name, autoRequeue: true, onError: (error) => console.log(`${name}: ${error}`) },
  );
  selector.start();
  await selector.finished();
}

async function direct(): Promise<void> {
  await using ensemble = await zookeeper();
  await using zk = await connect(ensemble.connectString);
  await new SharedValue(zk, PROGRESS, { seed: "0", codec: text }).set("0");

  const first = startProcess(import.meta.filename, ensemble.connectString, "worker-1");
  await reported<number>(first, (done) => done >= 3);
  const standby = startProcess(import.meta.filename, ensemble.connectString, "worker-2");
  while ((await zk.children(ELECTION)).names.length < 2) await pause(20);
  console.log("worker-2 stands by");

  first.kill("SIGKILL");
  console.log("worker-1 was killed");
  const done = await reported<number>(standby);
  console.log(`worker-2 has done step ${done}`);
  standby.kill();
}
