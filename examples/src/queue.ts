/**
 * Shows a queue between processes: each item is worked on by one consumer, stays in the queue until
 * its work is done, and is worked on again when the work fails.
 *
 *     npm run example examples/src/queue.ts [HOST:PORT]
 */
import { connect, json } from "@zooid/client";
import { DistributedQueue } from "@zooid/recipes";
import { zookeeper } from "./zookeeper.ts";

interface Mail {
  readonly to: string;
}
const MAILS = 12;

await using ensemble = await zookeeper();
await using producer = await connect(ensemble.connectString);
await using zk = await connect(ensemble.connectString);
const options = { codec: json<Mail>(), lockPath: "/examples/mails/claims" };

const done: string[] = [];
const { promise: allDone, resolve } = Promise.withResolvers<void>();
let hasFailed = false;

function consume(name: string): AsyncDisposable {
  const queue = new DistributedQueue<Mail>(zk, "/examples/mails/queue", options);
  return queue.consume(
    async ({ to }) => {
      if (to === "mail-3" && !hasFailed) {
        hasFailed = true;
        throw new Error("the mail server is busy");
      }
      await zk.sync(); // stands for slow work
      console.log(`${name} has sent ${to}`);
      done.push(to);
      if (done.length === MAILS) resolve();
    },
    { onFailure: "requeue", onError: (error) => console.log(`${name} puts it back: ${error}`) },
  );
}

await using _first = consume("consumer-1");
await using _second = consume("consumer-2");
const queue = new DistributedQueue<Mail>(producer, "/examples/mails/queue", options);
for (let i = 1; i <= MAILS; i++) await queue.put({ to: `mail-${i}` });
await allDone;
console.log(`${done.length} sent, ${new Set(done).size} different`);
