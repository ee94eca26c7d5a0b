import { ArgumentError, type Client } from "@zooid/client";
import { firstValueFrom, skip } from "rxjs";
import { expect, onTestFinished, test, vi } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, failure, type Stage } from "../testing/stage.ts";
import { RateLimiter } from "./rate-limiter.ts";

const PATH = "/limits/mail";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

test("a burst is shared by all processes, and then there is nothing for either", async () => {
  const [mine, theirs] = [
    new RateLimiter(a, PATH, { rate: 1e-6, burst: 5 }),
    new RateLimiter(b, PATH, { rate: 1e-6, burst: 5 }),
  ];
  expect([await mine.tryAcquire(2), await theirs.tryAcquire(3)]).toEqual([true, true]);
  expect([await mine.tryAcquire(), await theirs.tryAcquire()]).toEqual([false, false]);
  expect((await a.children("/limits")).names).toEqual(["mail"]);
});

test("most calls need no request: tokens are leased for those that follow, and a refusal is remembered", async () => {
  const limiter = new RateLimiter(a, PATH, { rate: 1e-6, burst: 1_000, leaseMs: 60_000 });
  let granted = 0;
  for (let i = 0; i < 2_000; i++) if (await limiter.tryAcquire()) granted++;
  expect(granted).toBe(1_000);
  const { version } = (await b.get(PATH)).stat;
  expect(version).toBeLessThan(20);
});

test("calls that wait get their tokens in order, and a call that does not wait goes behind them", async () => {
  const limiter = new RateLimiter(a, PATH, { rate: 200, burst: 10 });
  await limiter.acquire(10);
  const order: number[] = [];
  const waiting = [4, 1, 2].map((count, i) => limiter.acquire(count).then(() => order.push(i)));
  expect(await limiter.tryAcquire()).toBe(false);
  await Promise.all(waiting);
  expect(order).toEqual([0, 1, 2]);
});

test("a wait that ends early takes none, and the next one gets its turn", async () => {
  const limiter = new RateLimiter(a, PATH, { rate: 1e-6, burst: 3 });
  await limiter.acquire(2);
  const late = limiter.acquire(2, { timeoutMs: 20 });
  const next = limiter.acquire(1);
  expect(await failure(late)).toMatchObject({ code: "LOCK_TIMEOUT" });
  await next;
  const abort = new AbortController();
  const cancelled = limiter.acquire(1, { signal: abort.signal });
  abort.abort(new Error("enough"));
  expect(await failure(cancelled)).toMatchObject({ message: "enough" });
});

test("leased tokens can be used while no server answers, and calls without them wait for one", async () => {
  const { zk, relay } = await stage.relayed();
  const limiter = new RateLimiter(zk, PATH, { rate: 1_000, burst: 100, leaseMs: 60_000 });
  // Leases of 2, 4 and 8 tokens, of which 6 are left.
  for (let i = 0; i < 4; i++) await limiter.acquire(2);
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  const uses = Promise.allSettled([1, 2, 3].map(() => limiter.acquire(2)));
  expect((await uses).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  const more = limiter.acquire(80);
  expect(await failure(limiter.acquire(1, { timeoutMs: 20 }))).toMatchObject({ code: "LOCK_TIMEOUT" });
  await stage.expire(zk);
  relay.accept();
  await more;
});

test("a write whose answer is lost is repeated, and its tokens are not used", async () => {
  const { zk, relay } = await stage.relayed();
  const limiter = new RateLimiter(zk, PATH, { rate: 1e-6, burst: 10, leaseMs: 60_000 });
  await limiter.acquire(1);
  const written = firstValueFrom(a.watchData$(PATH).pipe(skip(1)));
  const set = zk.set.bind(zk);
  const losing: typeof zk.set = (...args) => {
    zk.set = set;
    relay.freeze("answers");
    return set(...args);
  };
  zk.set = losing;
  const acquiring = limiter.acquire(3);
  await written;
  relay.thaw();
  relay.cut();
  await acquiring;
  // The lost lease counts as used: 1, 3 and 3 of 10.
  expect([await limiter.tryAcquire(4), await limiter.tryAcquire(3)]).toEqual([false, true]);
});

test("a bucket that was deleted is full again, and other data are refused", async () => {
  const limiter = new RateLimiter(a, PATH, { rate: 1e-6, burst: 1 });
  await limiter.acquire();
  await b.delete(PATH);
  const later = new RateLimiter(b, PATH, { rate: 1e-6, burst: 1 });
  expect(await later.tryAcquire()).toBe(true);
  await b.set(PATH, "mail");
  expect(await failure(new RateLimiter(a, PATH, { rate: 1 }).acquire())).toMatchObject({
    code: "NOT_OURS",
    message: expect.stringContaining(PATH),
  });
});

test("time since a credit of a deleted bucket does not count in the bucket that replaces it", async () => {
  const limits = { rate: 1e-6, burst: 2, leaseMs: 4000 };
  const mine = new RateLimiter(a, PATH, limits);
  await mine.acquire(2);
  await b.delete(PATH);
  await new RateLimiter(b, PATH, limits).acquire(2);
  const { version } = (await b.get(PATH)).stat;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 1100);
  onTestFinished(() => clock.mockRestore());
  expect(await mine.tryAcquire()).toBe(false);
  expect((await b.get(PATH)).stat.version).toBe(version);
});

test.each([0, -1, 1.5, 11, Number.NaN, "2", Number.POSITIVE_INFINITY])("%j tokens are refused", async (count) => {
  const limiter = new RateLimiter(a, PATH, { rate: 1, burst: 10 });
  expect(await failure(limiter.acquire(count as number))).toBeInstanceOf(ArgumentError);
  expect(await failure(limiter.tryAcquire(count as number))).toBeInstanceOf(ArgumentError);
});
