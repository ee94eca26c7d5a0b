/**
 * Rounds of repeated work must leave no resources behind. Few rounds are judged by counts, many
 * also by the heap after a collection.
 */
import { getEventListeners, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import { Relay } from "../fault-injection/relay.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { ScriptedServer } from "./scripted-server.ts";

export interface LeakRounds {
  /** Number of rounds of each test. */
  readonly count: number;
  /**
   * Whether to judge the heap too: that needs thousands of rounds until its own bookkeeping does
   * not matter.
   */
  readonly judgesHeap: boolean;
}

/**
 * Well above the variation by a heap's own bookkeeping, well below one kept object for each cycle.
 */
const GROWTH_BYTES_PER_CYCLE_MAX = 60;

const WINDOWS = 5;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function testLeaks({ count, judgesHeap }: LeakRounds): void {
  let server: Worker;
  let port: number;
  let relay: Relay;
  let zk: Client;

  beforeEach(async () => {
    server = new Worker(new URL("./server-thread.ts", import.meta.url), {
      execArgv: ["--conditions=@zooid/source"],
    });
    [port] = (await once(server, "message")) as [number];
    relay = await Relay.start({ port });
    // No back-off: the pause between rounds is a random part of its bound.
    zk = await connect(`127.0.0.1:${relay.port}`, { random: () => 0 });
    await zk.create("/a", "x");
  });

  afterEach(async () => {
    await zk.close();
    await relay[Symbol.asyncDispose]();
    await server.terminate();
  });

  /** The resources in use now, apart from those that vary by themselves. */
  async function alive(): Promise<{ heapBytes: number; counts: Readonly<Record<string, number>> }> {
    await zk.sync();
    await new Promise((resolve) => setImmediate(resolve));
    if (judgesHeap) collect();
    const answer = await fourLetterWord(port, "wchs");
    const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length;
    return {
      heapBytes: process.memoryUsage().heapUsed,
      counts: { watches: zk.watchCount, serverWatches: Number(/Total watches:(\d+)/.exec(answer)?.[1]), timers },
    };
  }

  /**
   * Runs half of the cycles to warm up, and measures the other half. A leak grows in every window;
   * a heap's bookkeeping grows in some and shrinks in others, so the median counts.
   */
  async function cycle(once: (i: number) => Promise<unknown>): Promise<void> {
    for (let i = 0; i < count / 2; i++) await once(i);
    const growths: number[] = [];
    const windowCount = count / 2 / WINDOWS;
    let before = await alive();
    for (let window = 0; window < WINDOWS; window++) {
      for (let i = 0; i < windowCount; i++) await once(i);
      const after = await alive();
      for (const [name, alive] of Object.entries(after.counts)) {
        expect(alive, name).toBeLessThanOrEqual(before.counts[name] ?? 0);
      }
      growths.push((after.heapBytes - before.heapBytes) / windowCount);
      before = after;
    }
    if (!judgesHeap) return;
    const [median = Number.NaN] = growths.toSorted((a, b) => a - b).slice(Math.floor(WINDOWS / 2));
    expect(median).toBeLessThan(GROWTH_BYTES_PER_CYCLE_MAX);
  }

  test(`${count} streams that are subscribed and unsubscribed leave nothing`, async () => {
    await cycle(async (i) => {
      // Some unsubscribe before the first answer, some after; some watch a missing node.
      const path = i % 3 === 0 ? "/none" : "/a";
      if (i % 2 === 0) zk.watchData$(path).subscribe().unsubscribe();
      else await firstValueFrom(zk.watchData$(path));
      zk.events$(path).subscribe().unsubscribe();
    });
    expect(zk.watchCount).toBe(0);
  });

  test(`${count} watches of one shot, fired or removed, leave nothing`, async () => {
    const controller = new AbortController();
    await cycle(async (i) => {
      const { watch } = await zk.get("/a", { watch: true, signal: controller.signal });
      if (i % 2 === 0) {
        watch.remove();
      } else {
        await zk.set("/a", "x");
        await watch.fired;
      }
    });
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });

  test(`${count} reconnects under a stream and a watch leave nothing`, { timeout: 300_000 }, async () => {
    const states = zk.state$.pipe(filter(({ kind }) => kind === "suspended"));
    const stream = zk.watchChildren$("/a").subscribe();
    const { watch } = await zk.exists("/none", { watch: true });
    await cycle(async () => {
      const suspended = firstValueFrom(states);
      relay.cut();
      await suspended;
      await zk.connected();
    });
    stream.unsubscribe();
    await zk.create("/none");
    expect(await watch.fired).toMatchObject({ type: "created" });
  });

  test("calls that wait while the connection flaps leave one time limit each", async () => {
    await using server = await ScriptedServer.start();
    const waiting = 2_000;
    await using client = createClient(server.hosts, { random: () => 0, inFlightMax: 1, waitingMax: waiting + 1 });
    const calls = Array.from({ length: waiting }, () => client.get("/a").catch(() => {}));
    const flap = async (): Promise<void> => {
      const line = await server.session();
      await line.request();
      line.reset();
      await line.closed;
    };
    for (let i = 0; i < 20; i++) await flap();
    collect();
    const beforeBytes = process.memoryUsage().heapUsed;
    const flaps = judgesHeap ? 200 : 40;
    for (let i = 0; i < flaps; i++) await flap();
    collect();
    // One entry for each call and flap would be 400 000, or 80 000.
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(waiting * flaps * 10);
    await client.close();
    await Promise.all(calls);
  });
}
