/**
 * `@zooid/recipes`, Curator and kazoo on the same paths at the same time, in pairs: each takes a
 * lock 200 times, and checks for other holders meanwhile; counts 200; puts 200 items for the other.
 *
 *     mixed-scenario.ts CLASSPATH PYTHON CONTENDER.PY HOST:PORT       prints one line for each participant
 */
import { type Client, connect, isZkError, text } from "@zooid/client";
import {
  AtomicLong,
  DistributedQueue,
  type Grant,
  LeaderLatch,
  LeaderSelector,
  LockingQueue,
  Mutex,
  ReadWriteLock,
  Semaphore,
  SemaphoreMutex,
  SharedCount,
} from "@zooid/recipes";
import { CuratorPeer, PeerProcess } from "../servers/peer-process.ts";

const [classpath = "", python = "", contender = "", address = ""] = process.argv.slice(2);
const TIMES = 200;
const DEADLINE_MS = 20_000;

const curator = new CuratorPeer(classpath, "Contender", address);
const kazoo = new PeerProcess(python, [contender, address]);
say("curator", await curator.answer());
say("kazoo", await kazoo.answer());
const zk = await connect(address, { sessionTimeoutMs: 30_000 });

function say(who: string, what: string): void {
  console.log(`${who.padEnd(7)} ${what}`);
}

type How = "alone" | "write" | "read" | "lease";

/** Creates a node while it holds the lock, and checks for holders that it excludes. */
async function enter(client: Client, how: How, path: string): Promise<number> {
  const inside = `${path}-inside`;
  const isAlone = how === "alone" || how === "write";
  let mine: string;
  try {
    const created = isAlone
      ? await client.create(`${inside}/alone`, "", { mode: "ephemeral" })
      : await client.create(`${inside}/shared-`, "", { mode: "ephemeral-sequential" });
    mine = created.path;
  } catch (error) {
    if (isZkError(error, "NODE_EXISTS")) return 1;
    throw error;
  }
  const { names } = await client.children(inside);
  await client.delete(mine);
  if (how === "lease") return names.length > 2 ? 1 : 0;
  if (how === "read") return names.includes("alone") ? 1 : 0;
  return names.length > 1 ? 1 : 0;
}

type Use = (work: () => Promise<void>) => Promise<unknown>;

async function takeTurns(use: Use, how: How, path: string): Promise<string> {
  let intruders = 0;
  const work = async (): Promise<void> => {
    intruders += await enter(zk, how, path);
  };
  for (let i = 0; i < TIMES; i++) await use(work);
  return `${TIMES} turns, ${intruders} intruders`;
}

/** Ours and others at once, on one path. */
async function together(
  path: string,
  ours: readonly { readonly use: Use; readonly how: How }[],
  others: readonly { readonly peer: PeerProcess; readonly name: string; readonly command: string }[],
): Promise<void> {
  await zk.create(`${path}-inside`, "", { parents: "persistent" });
  for (const { peer, command } of others) peer.tell(command, path, TIMES);
  const answers = await Promise.all(ours.map(({ use, how }) => takeTurns(use, how, path)));
  for (const [i, { how }] of ours.entries()) say("zooid", `${path} ${how}: ${answers[i]}`);
  for (const { peer, name, command } of others) say(name, `${path} ${command}: ${await peer.answer()}`);
  // A semaphore has two folders, which go when they have been empty for a while.
  const folders = path.endsWith("simple") || path.endsWith("semaphore") ? 2 : 0;
  say("all", `${path}: ${await leftBehind(path, folders)} left behind`);
}

/** Waits for deletes that others make in the background. */
async function leftBehind(path: string, folders: number): Promise<number> {
  for (const endMs = Date.now() + DEADLINE_MS; ; ) {
    const count = await zk.getAllChildrenNumber(path).catch(() => 0);
    if (count <= folders) return 0;
    if (Date.now() > endMs) return count - folders;
  }
}

const locked =
  <G extends Grant>(lock: { use(work: (grant: G) => Promise<void>): Promise<void> }): Use =>
  (work) =>
    lock.use(work);
const java = (command: string) => ({ peer: curator, name: "curator", command });
const py = (command: string) => ({ peer: kazoo, name: "kazoo", command });

// With Curator.
await together("/curator/mutex", [{ use: locked(new Mutex(zk, "/curator/mutex")), how: "alone" }], [java("mutex")]);
const simple = new SemaphoreMutex(zk, "/curator/simple");
await together("/curator/simple", [{ use: locked(simple), how: "alone" }], [java("simple")]);
const javaBoth = new ReadWriteLock(zk, "/curator/rw");
await together("/curator/rw", [{ use: locked(javaBoth.read), how: "read" }], [java("write")]);
await together(
  "/curator/wr",
  [{ use: locked(new ReadWriteLock(zk, "/curator/wr").write), how: "write" }],
  [java("read")],
);
await together(
  "/curator/ww",
  [{ use: locked(new ReadWriteLock(zk, "/curator/ww").write), how: "write" }],
  [java("write")],
);
const semaphore = new Semaphore(zk, "/curator/semaphore", { leases: 2 });
const leased: Use = (work) => semaphore.use(work);
await together(
  "/curator/semaphore",
  [
    { use: leased, how: "lease" },
    { use: leased, how: "lease" },
  ],
  [java("semaphore")],
);
const latched: Use = async (work) => {
  await using latch = new LeaderLatch(zk, "/curator/latch", { id: "node" });
  await latch.leadership();
  await work();
};
await together("/curator/latch", [{ use: latched, how: "alone" }], [java("latch")]);
const selected =
  (path: string, dialect: "curator" | "kazoo"): Use =>
  async (work) => {
    const selector = new LeaderSelector(zk, path, work, { dialect });
    selector.start();
    await selector.finished();
  };
await together(
  "/curator/selector",
  [{ use: selected("/curator/selector", "curator"), how: "alone" }],
  [java("selector")],
);

// With kazoo.
const dialect = "kazoo";
await together("/kazoo/lock", [{ use: locked(new Mutex(zk, "/kazoo/lock", { dialect })), how: "alone" }], [py("lock")]);
const [readers, writers] = ["/kazoo/rw", "/kazoo/wr"].map((path) => new ReadWriteLock(zk, path, { dialect }));
if (readers === undefined || writers === undefined) throw new Error("two locks");
await together("/kazoo/rw", [{ use: locked(readers.read), how: "read" }], [py("own-write")]);
await together("/kazoo/wr", [{ use: locked(writers.write), how: "write" }], [py("own-read")]);
await together("/kazoo/election", [{ use: selected("/kazoo/election", dialect), how: "alone" }], [py("selector")]);

// All three, where kazoo's classes write Curator's names.
await together(
  "/all/mutex",
  [{ use: locked(new Mutex(zk, "/all/mutex")), how: "alone" }],
  [java("mutex"), py("mutex")],
);
await together(
  "/all/rw",
  [{ use: locked(new ReadWriteLock(zk, "/all/rw").write), how: "write" }],
  [java("write"), py("read")],
);

// Numbers.
const count = new SharedCount(zk, "/count", 0);
// kazoo would make the node empty, which is nothing that Curator can read.
await count.get();
for (const { peer } of [java(""), py("")]) peer.tell("count", "/count", TIMES);
for (let i = 0; i < TIMES; ) {
  const before = await count.get();
  if (await count.trySet(before, before.value + 1)) i++;
}
say("curator", `counts: ${await curator.answer()}`);
say("kazoo", `counts: ${await kazoo.answer()}`);
say("all", `count to ${(await count.get()).value}`);
curator.tell("long", "/long", TIMES);
const long = new AtomicLong(zk, "/long");
for (let i = 0; i < TIMES; ) if ((await long.add(1n)).succeeded) i++;
say("curator", `adds: ${await curator.answer()}`);
say("both", `add up to ${(await long.add(0n)).after}`);

// Queues.
say("curator", await curator.ask("put", "/queue", TIMES));
const queue = new DistributedQueue(zk, "/queue", { codec: text, lockPath: "/queue-locks" });
const seen = new Set<string>();
const all = Promise.withResolvers<void>();
const consumer = queue.consume((item) => {
  seen.add(item);
  if (seen.size === TIMES) all.resolve();
});
await all.promise;
await consumer.close();
say("zooid", `${seen.size} different items, the first ${[...seen][0]}, ${await queue.size()} left`);
curator.tell("consume", "/queue", TIMES);
for (let i = 0; i < TIMES; i++) await queue.put(`node-${i}`);
say("curator", await curator.answer());
say("both", `${await queue.size()} left`);
const locking = new LockingQueue(zk, "/locking");
say("kazoo", await kazoo.ask("put", "/locking", TIMES));
const taken = new Set<string>();
for (let i = 0; i < TIMES; i++) {
  const item = await locking.take();
  taken.add(Buffer.from(item.data).toString());
  await item.consume();
}
say("zooid", `${taken.size} different items, the first ${[...taken][0]}`);
kazoo.tell("consume", "/locking", TIMES);
for (let i = 0; i < TIMES; i++) await locking.put(`node-${i}`);
say("kazoo", await kazoo.answer());
say("both", `${await locking.size()} left`);

await Promise.all([curator.kill(), kazoo.kill()]);
await zk.close();
