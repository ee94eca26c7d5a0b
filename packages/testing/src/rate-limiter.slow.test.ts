/**
 * The rate limiter of `@zooid/recipes` in virtual time, where its bound can be checked at every
 * use.
 */
import { type Client, isZkError, type Stat } from "@zooid/client";
import { RateLimiter, type RateLimiterOptions } from "@zooid/recipes";
import { describe, expect, test } from "vitest";
import { forSeeds, TestEnsemble } from "./index.ts";

/** Uses of all processes, each at its moment. */
class Uses {
  count = 0;
  /** Most tokens by which an interval has exceeded `rate × interval + burst`. */
  excess = Number.NEGATIVE_INFINITY;
  readonly #limits: Required<Pick<RateLimiterOptions, "rate" | "burst">>;
  #debt = 0;
  #lastMs = 0;

  constructor(limits: Required<Pick<RateLimiterOptions, "rate" | "burst">>) {
    this.#limits = limits;
  }

  add(tokens: number, nowMs: number): void {
    const { rate, burst } = this.#limits;
    this.#debt = Math.max(0, this.#debt - ((nowMs - this.#lastMs) * rate) / 1000) + tokens;
    this.#lastMs = nowMs;
    this.#excess(burst);
    this.count += tokens;
  }

  #excess(burst: number): void {
    this.excess = Math.max(this.excess, this.#debt - burst);
  }
}

const LIMITS = { rate: 100, burst: 60 };

describe("a rate limiter", () => {
  test("never exceeds its rate and burst under deaths, lost sessions and clocks that are moved by an hour", async () => {
    await forSeeds({ seeds: 8, servers: 3 }, async (ensemble) => {
      const uses = new Uses(LIMITS);
      const faults = ensemble.randomFaults({ everyMs: 1_500, forMsMax: 4_000 });
      const endMs = performance.now() + 40_000;
      let deaths = 0;
      const process = async (name: string): Promise<void> => {
        while (performance.now() < endMs) {
          const zk = await ensemble.connect({ name: `${name}-${deaths}`, sessionTimeoutMs: 6_000 });
          const limiter = new RateLimiter(zk, "/limit", LIMITS);
          const diesMs = performance.now() + 1_000 + ensemble.below(12_000);
          while (performance.now() < Math.min(diesMs, endMs)) {
            const count = 1 + ensemble.below(5);
            try {
              if (ensemble.below(2) === 0) await limiter.acquire(count, { timeoutMs: 3_000 });
              else if (!(await limiter.tryAcquire(count))) continue;
              uses.add(count, performance.now());
            } catch (error) {
              if (!isZkError(error) && (error as Error).name !== "TimeoutError") throw error;
            }
            await ensemble.sleep(ensemble.below(60));
          }
          // A process that dies with its leases; its session ends later.
          deaths++;
          ensemble.link(zk).refuse();
          ensemble.link(zk).cut();
        }
      };
      const clocks = async (): Promise<void> => {
        while (performance.now() < endMs) {
          await ensemble.sleep(3_000 + ensemble.below(4_000));
          for (const server of ensemble.servers) {
            ensemble.skewClock(server, (ensemble.below(3) - 1) * 3_600_000);
          }
        }
      };
      await Promise.all([...["a", "b", "c", "d"].map(process), clocks()]);
      await faults.stop();
      expect(uses.excess).toBeLessThanOrEqual(1e-6);
      // It must not keep to the bound by granting hardly anything.
      expect(uses.count).toBeGreaterThan(800);
    });
  }, 60_000);

  test("grants nearly the whole rate to 50 processes, with few writes a second", async () => {
    await TestEnsemble.run({ servers: 3, seed: 3 }, async (ensemble) => {
      const limits = { rate: 1_000, burst: 1_000 };
      const uses = new Uses(limits);
      const clients = await Promise.all(Array.from({ length: 50 }, () => ensemble.connect()));
      let endMs = performance.now() + 5_000;
      const work = async (i: number): Promise<void> => {
        const zk = clients[i % clients.length];
        if (zk === undefined) return;
        const limiter = new RateLimiter(zk, "/limit", limits);
        while (performance.now() < endMs) {
          await limiter.acquire();
          uses.add(1, performance.now());
        }
      };
      const running = clients.map((_, i) => work(i));
      // The burst is used up.
      await ensemble.sleep(1_000);
      const [granted, { version: writes = 0 } = {}] = [uses.count, await bucketOf(clients)];
      await ensemble.sleep(4_000);
      const [grantedPerSecond, { version = 0 } = {}] = [(uses.count - granted) / 4, await bucketOf(clients)];
      endMs = 0;
      await Promise.all(running);
      expect(uses.excess).toBeLessThanOrEqual(1e-6);
      expect(grantedPerSecond).toBeGreaterThan(900);
      // 25 as measured; a write for each use would be 1000.
      expect((version - writes) / 4).toBeLessThan(40);
    });
  }, 60_000);

  test("lets a process use the tokens of its lease without a connection, until their time is over", async () => {
    await TestEnsemble.run({ servers: 1 }, async (ensemble) => {
      const zk = await ensemble.connect();
      const limiter = new RateLimiter(zk, "/limit", { rate: 1, burst: 100, leaseMs: 1_000 });
      // Leases of 2, 4 and 8 tokens, of which 6 are left.
      for (let i = 0; i < 4; i++) await limiter.acquire(2);
      ensemble.link(zk).refuse();
      ensemble.link(zk).cut();
      await limiter.acquire(2);
      await ensemble.sleep(1_000);
      await expect(limiter.acquire(2, { timeoutMs: 500 })).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
    });
  });

  test("fills while a process knows it, however long that is, and no further than the burst", async () => {
    await TestEnsemble.run({ servers: 3 }, async (ensemble) => {
      const [zk, other] = [await ensemble.connect(), await ensemble.connect()];
      const limiter = new RateLimiter(zk, "/limit", LIMITS);
      await limiter.acquire(60);
      for (const server of ensemble.servers) ensemble.skewClock(server, 3_600_000);
      // By a server's clock it would be full.
      expect(await new RateLimiter(other, "/limit", LIMITS).tryAcquire(10)).toBe(false);
      await ensemble.sleep(60_000);
      expect([await limiter.tryAcquire(60), await limiter.tryAcquire(10)]).toEqual([true, false]);
    });
  });
});

async function bucketOf(clients: readonly Client[]): Promise<Stat | undefined> {
  return (await clients[0]?.exists("/limit")) ?? undefined;
}
