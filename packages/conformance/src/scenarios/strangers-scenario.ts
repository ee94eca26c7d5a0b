/**
 * Children of other recipes and other programs below the paths of locks, elections, barriers and
 * queues: recipes of `@zooid/recipes` pass them over, and wait for the contenders of Curator and
 * kazoo all the same.
 *
 *     strangers-scenario.ts CLASSPATH PYTHON NEIGHBOUR.PY HOST:PORT       prints one line for each step
 */
import { text } from "@zooid/client";
import {
  DistributedQueue,
  DoubleBarrier,
  LeaderLatch,
  LeaderSelector,
  LockingQueue,
  Mutex,
  ReadWriteLock,
  Semaphore,
  SimpleQueue,
} from "@zooid/recipes";
import { orCode, say, startNeighbours } from "./neighbours.ts";

const TIMEOUT_MS = 20_000;
const HEX = "0123456789abcdef0123456789abcdef";
const UUID = "01234567-89ab-cdef-0123-456789abcdef";
const LOCKS = [`_c_${UUID}-lock-0000000000`, `${HEX}__lock__0000000000`, `_c_${UUID}-__WRIT__0000000000`];
const LATCHES = [`_c_${UUID}-latch-0000000000`];
const LEASES = [`_c_${UUID}-lease-0000000000`];
const ITEMS = ["queue-0000000000", "qn-0000000000", "entry-100-0000000000"];
/** Names that belong to no recipe, or to one without numbers. */
const OTHERS = ["0", "-x", "-1", "lock", "ready", "leader", "9999999999", `${HEX}__party__`];

await using neighbours = await startNeighbours(process.argv.slice(2));
const { curator, kazoo, zk } = neighbours;

interface Held {
  release(): Promise<void>;
}

interface Lock {
  acquire(options: { readonly timeoutMs: number }): Promise<Held>;
  tryAcquire(): Promise<Held | null>;
}

const both = { curator, kazoo };

async function addStrangers(path: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => zk.create(`${path}/${name}`, "", { parents: "persistent" })));
}

/** Members and items of live programs on the path. */
async function addNeighbours(path: string): Promise<void> {
  await Promise.all([curator.ask("member", path, "a-member"), kazoo.ask("party", path, "a-party")]);
}

/** Curator or kazoo has it, strangers come, and ours waits for the holder alone. */
async function lockLike(
  path: string,
  holder: readonly ["curator" | "kazoo", string, number?],
  lock: Lock,
): Promise<void> {
  const [who, command, leases = ""] = holder;
  say(who, `${path}: takes it as ${command}`, await both[who].ask(command, path, leases));
  const folders = leases === "" ? [path] : [`${path}/leases`, `${path}/locks`];
  for (const folder of folders) {
    await addStrangers(folder, [...LATCHES, ...ITEMS, ...OTHERS, ...(folder.endsWith("leases") ? LOCKS : LEASES)]);
    await addNeighbours(folder);
  }
  say("zooid", "tries meanwhile", await lock.tryAcquire());
  const waiting = lock.acquire({ timeoutMs: TIMEOUT_MS });
  say(who, "gives it back", await both[who].ask("close", path));
  const lease = await orCode(waiting);
  say("zooid", "has it then", typeof lease !== "string");
  if (typeof lease !== "string") await lease.release();
  const again = await lock.tryAcquire();
  say("zooid", "has it again at once", again !== null);
  await again?.release();
}

await lockLike("/mutex", ["curator", "mutex"], new Mutex(zk, "/mutex"));
await lockLike("/kazoo-mutex", ["kazoo", "lock"], new Mutex(zk, "/kazoo-mutex", { dialect: "kazoo" }));
await lockLike("/reading", ["curator", "write"], new ReadWriteLock(zk, "/reading").read);
await lockLike("/writing", ["curator", "read"], new ReadWriteLock(zk, "/writing").write);
const kazooReading = new ReadWriteLock(zk, "/kazoo-reading", { dialect: "kazoo" });
await lockLike("/kazoo-reading", ["kazoo", "write"], kazooReading.read);
const kazooWriting = new ReadWriteLock(zk, "/kazoo-writing", { dialect: "kazoo" });
await lockLike("/kazoo-writing", ["kazoo", "read"], kazooWriting.write);
await lockLike("/semaphore", ["curator", "lease", 1], new Semaphore(zk, "/semaphore", { leases: 1 }));

// Elections.
say("curator", "/latch: leads", await curator.ask("latch", "/latch"));
await addStrangers("/latch", [...LOCKS, ...LEASES, ...ITEMS, ...OTHERS]);
await addNeighbours("/latch");
const latch = new LeaderLatch(zk, "/latch", { id: "node" });
// Our candidate has its node once it is listed.
let candidates = await latch.participants();
while (candidates.length < 2) candidates = await latch.participants();
say("zooid", "sees", candidates.map(({ id, isLeader }) => `${id} ${isLeader ? "leads" : "waits"}`).join(", "));
say("curator", "leaves", await curator.ask("close", "/latch"));
say("zooid", "leads then", (await orCode(latch.leadership({ timeoutMs: TIMEOUT_MS }))) !== "LOCK_TIMEOUT");
await latch.close();
say("kazoo", "/selector: leads", await kazoo.ask("lock", "/selector"));
await addStrangers("/selector", [...LATCHES, ...LEASES, ...ITEMS, ...OTHERS]);
await addNeighbours("/selector");
let hasLeft = false;
let isInTurn = false;
const selector = new LeaderSelector(zk, "/selector", () => {
  isInTurn = hasLeft;
});
selector.start();
while ((await selector.participants()).length < 2);
hasLeft = true;
say("kazoo", "leaves", await kazoo.ask("close", "/selector"));
await selector.finished();
say("zooid", "has led in its turn", isInTurn);

// Barriers: Curator's and kazoo's members take each child for a member.
await addStrangers("/barrier", [...LOCKS, ...LATCHES, ...ITEMS, "0", "-x", `${HEX}__party__`]);
const members = [1, 2].map(() => new DoubleBarrier(zk, "/barrier", { members: 2 }));
const rounds = members.map((member) => orCode(member.run(() => "complete", { timeoutMs: TIMEOUT_MS })));
say("zooid", "/barrier: two members' round is", (await Promise.all(rounds)).join(", "));

// Queues.
await addStrangers("/queue", [...LOCKS, ...LATCHES, ...LEASES, ...OTHERS, "entry-100-0000000000", "qn-0000000000"]);
await addNeighbours("/queue");
say("curator", "/queue", await curator.ask("put", "/queue", "one"));
const queue = new DistributedQueue(zk, "/queue", { codec: text, lockPath: "/queue-locks" });
say("zooid", "/queue: size", await queue.size());
const taken = Promise.withResolvers<string>();
const consumer = queue.consume((item) => taken.resolve(item));
say("zooid", "/queue: takes", await taken.promise);
await consumer.close();
say("zooid", "/queue: size", await queue.size());
await addStrangers("/simple", [...LOCKS, ...LATCHES, ...LEASES, ...OTHERS, "entry-100-0000000000", "queue-0000000000"]);
say("curator", "/simple: offers", await curator.ask("offer", "/simple", "two"));
const simple = new SimpleQueue(zk, "/simple");
say("zooid", "/simple: takes", text.decode(await simple.take({ timeoutMs: TIMEOUT_MS })));
say("zooid", "/simple: finds no more", await simple.poll());
await addStrangers("/locking/entries", [...LOCKS, ...LATCHES, ...LEASES, ...OTHERS, "queue-0000000000"]);
say("kazoo", "/locking", await kazoo.ask("put", "/locking", "three"));
const locking = new LockingQueue(zk, "/locking");
const item = await locking.take({ timeoutMs: TIMEOUT_MS });
say("zooid", "/locking: takes", text.decode(item.data));
await item.consume();
say("zooid", "/locking: size", await locking.size());
