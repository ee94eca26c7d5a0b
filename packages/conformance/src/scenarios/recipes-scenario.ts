/**
 * `@zooid/recipes` and Curator on one server and the same paths: holders, waiters, and the order of
 * grants.
 *
 *     recipes-scenario.ts CLASSPATH HOST:PORT       prints one line for each step
 */
import { type Client, connect, isZkError } from "@zooid/client";
import { LeaderLatch, type Lease, Mutex, ReadWriteLock, Semaphore, SemaphoreMutex } from "@zooid/recipes";
import { filter, firstValueFrom, timeout } from "rxjs";
import { CuratorPeer } from "../servers/peer-process.ts";

const [classpath = "", address = ""] = process.argv.slice(2);
/** Short, for the process that is killed. */
const SESSION_TIMEOUT_MS = 6_000;
const IN_VAIN_MS = 300;
const DEADLINE_MS = 20_000;

const curator = new CuratorPeer(classpath, "Peer", address, String(SESSION_TIMEOUT_MS));
say("curator", "connect", await curator.answer());
const zk = await connect(address, { sessionTimeoutMs: 30_000 });

function say(who: string, what: string, answer: unknown): void {
  console.log(`${who.padEnd(7)} ${what}: ${answer}`);
}

/**
 * Waits until a path has this number of children; it never does if two clients hold the same lock.
 */
async function standing(path: string, count: number): Promise<void> {
  const counted$ = zk.watchChildren$(path).pipe(filter((names) => (names?.length ?? 0) === count));
  await firstValueFrom(counted$.pipe(timeout({ first: DEADLINE_MS })));
}

/** Values that differ between runs become words. */
async function nodes(path: string): Promise<string> {
  const { names } = await zk.children(path);
  const plain = names.map((name) => name.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "UUID"));
  // In the order of the queue; a reader that was a writer has the writer's place.
  const place = (name: string): string => name.slice(-10) + name;
  return plain.sort((a, b) => (place(a) < place(b) ? -1 : 1)).join(", ");
}

async function inVain(lock: { acquire(options: { timeoutMs: number }): Promise<unknown> }): Promise<string> {
  return lock.acquire({ timeoutMs: IN_VAIN_MS }).then(
    () => "granted",
    (error: Error) => error.name,
  );
}

/**
 * One has the lock, the other fails to get it, waits, and gets it when it is released; then the
 * other way round.
 */
async function takeTurns(
  kind: string,
  path: string,
  lock: { acquire(options?: { timeoutMs: number }): Promise<Lease> },
  line = path,
): Promise<void> {
  say("curator", `acquires ${path}`, await curator.ask("acquire", path, kind, DEADLINE_MS));
  say("zooid", "tries in vain", await inVain(lock));
  await standing(line, 1);
  const waiting = lock.acquire({ timeoutMs: DEADLINE_MS });
  await standing(line, 2);
  say("both", "stand there", await nodes(line));
  say("curator", "releases", await curator.ask("release", path, kind));
  const lease = await waiting;
  say("zooid", "has it", lease.isValid());
  say("curator", "tries in vain", await curator.ask("acquire", path, kind, IN_VAIN_MS));
  await standing(line, 1);
  curator.tell("acquire", path, kind, DEADLINE_MS);
  await standing(line, 2);
  await lease.release();
  say("curator", "has it when zooid has released it", await curator.answer());
  say("curator", "releases", await curator.ask("release", path, kind));
}

// Mutexes of either kind.
await takeTurns("mutex", "/mutex", new Mutex(zk, "/mutex"));
await takeTurns("simple", "/simple", new SemaphoreMutex(zk, "/simple"), "/simple/leases");

// Readers and writers.
const both = new ReadWriteLock(zk, "/rw");
say("curator", "reads", await curator.ask("acquire", "/rw", "read", DEADLINE_MS));
const reading = await both.read.acquire();
say("zooid", "reads too", reading.isValid());
say("zooid", "writes in vain", await inVain(both.write));
say("curator", "stops reading", await curator.ask("release", "/rw", "read"));
say("curator", "writes in vain while zooid reads", await curator.ask("acquire", "/rw", "write", IN_VAIN_MS));
await standing("/rw", 1);
await reading.release();
const writing = await both.write.acquire();
say("curator", "reads in vain while zooid writes", await curator.ask("acquire", "/rw", "read", IN_VAIN_MS));
const downgraded = await both.downgrade(writing);
await standing("/rw", 2);
curator.tell("acquire", "/rw", "write", DEADLINE_MS);
await standing("/rw", 3);
say("all", "stand there", await nodes("/rw"));
await writing.release();
await standing("/rw", 2);
say("zooid", "still reads when it has stopped writing", downgraded.isValid());
await downgraded.release();
say("curator", "writes then", await curator.answer());
say("zooid", "reads in vain while curator writes", await inVain(both.read));
say("curator", "stops writing", await curator.ask("release", "/rw", "write"));

// A semaphore with two leases.
const semaphore = new Semaphore(zk, "/semaphore", { leases: 2 });
const mine = await semaphore.acquire();
say("curator", "gets the second of two leases", await curator.ask("lease", "/semaphore", DEADLINE_MS));
say("zooid", "wants a third in vain", await inVain(semaphore));
say("curator", "returns its own", await curator.ask("return", "/semaphore"));
const another = await semaphore.acquire({ timeoutMs: DEADLINE_MS });
say("curator", "wants a third in vain", await curator.ask("lease", "/semaphore", IN_VAIN_MS));
await mine.release();
say("curator", "gets what zooid returned", await curator.ask("lease", "/semaphore", DEADLINE_MS));
await another.release();
say("curator", "returns it", await curator.ask("return", "/semaphore"));

// Both at once, again and again.
const TIMES = 100;
curator.tell("contend", "/contended", "/holder", TIMES);
say("zooid", "contends", await contend(new Mutex(zk, "/contended"), TIMES));
say("curator", "contends", await curator.answer());
await standing("/contended", 0);
await standing("/semaphore/leases", 0);
say("both", "have left nothing behind", await zk.exists("/holder"));

// Leaders.
say("curator", "stands for leadership", await curator.ask("latch", "/latch", "java"));
say("curator", "leads", await curator.ask("leads", "/latch", DEADLINE_MS));
const latch = new LeaderLatch(zk, "/latch", { id: "node" });
await standing("/latch", 2);
say("both", "stand there", await nodes("/latch"));
say("curator", "sees lead", await curator.ask("leader", "/latch"));
const candidates = await latch.participants();
say("zooid", "sees", candidates.map(({ id, isLeader }) => `${id} ${isLeader ? "leads" : "waits"}`).join(", "));
say("curator", "leaves", await curator.ask("leave", "/latch"));
await latch.leadership({ timeoutMs: DEADLINE_MS });
say("zooid", "leads then", latch.isLeader);
say("curator", "stands for leadership again", await curator.ask("latch", "/latch", "java"));
say("curator", "waits in vain", await curator.ask("leads", "/latch", IN_VAIN_MS));
await latch.close();
say("curator", "leads when zooid has left", await curator.ask("leads", "/latch", DEADLINE_MS));
say("curator", "leaves", await curator.ask("leave", "/latch"));

// A holder that dies.
say("curator", "acquires", await curator.ask("acquire", "/orphan", "mutex", DEADLINE_MS));
const heir = new Mutex(zk, "/orphan").acquire({ timeoutMs: DEADLINE_MS });
await standing("/orphan", 2);
await curator.kill();
say("zooid", "has it when curator's session has expired", (await heir).isValid());
await zk.close();

/**
 * Takes the lock again and again; while it has it, a node says so, of which there must not be two.
 */
async function contend(mutex: Mutex, times: number): Promise<string> {
  let intruders = 0;
  let last = 0;
  for (let i = 0; i < times; i++) {
    await mutex.use(async (lease) => {
      if (lease.token <= last) intruders++;
      last = lease.token;
      await hold(zk).catch((error: unknown) => {
        if (!isZkError(error, "NODE_EXISTS")) throw error;
        intruders++;
      });
    });
  }
  return `${times} times, ${intruders} intruders`;
}

async function hold(client: Client): Promise<void> {
  await client.create("/holder", "", { mode: "ephemeral" });
  await client.delete("/holder");
}
