import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";
import { candidatesOf, LeaderLatch } from "../elections/leader-latch.ts";
import { Semaphore } from "../locks/semaphore.ts";
import { IdQueue } from "../queues/id-queue.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { count, failure, type Stage } from "../testing/stage.ts";
import { eachOf } from "./each-of.ts";

let stage: Stage;
let a: Client;
eachStaged((staged) => {
  ({ stage, a } = staged);
});

test("answers come in order, few at a time, and an error ends them", async () => {
  const items = Array.from({ length: 200 }, (_, i) => i);
  let running = 0;
  let most = 0;
  const doubled = await eachOf(items, async (item) => {
    most = Math.max(most, ++running);
    await a.sync();
    running--;
    return item * 2;
  });
  expect(doubled).toEqual(items.map((item) => item * 2));
  expect(most).toBe(64);
  const failing = eachOf(items, async (item) => {
    if (item === 70) throw new Error("no 70");
  });
  expect(await failure(failing)).toEqual(new Error("no 70"));
});

/** Reads of many nodes, for which one more request may wait. */
const READS: Readonly<Record<string, (zk: Client) => Promise<unknown>>> = {
  "instances of a service": async (zk) => {
    for (const id of ["1", "2", "3", "4"]) {
      await stage.kept(new ServiceDiscovery(a, "/many")).register({ name: "web", id });
    }
    expect(await new ServiceDiscovery(zk, "/many").instances("web")).toHaveLength(4);
  },
  candidates: async (zk) => {
    for (let i = 0; i < 4; i++) stage.kept(new LeaderLatch(a, "/many"));
    await count(a, "/many", 4);
    expect(await candidatesOf(zk, "/many", "latch")).toHaveLength(4);
  },
  "items of an id": async (zk) => {
    const queue = new IdQueue(zk, "/many");
    for (let i = 0; i < 4; i++) await queue.put(new Uint8Array(1), "id");
    expect(await queue.remove("id")).toBe(4);
  },
  "places of a semaphore": async (zk) => {
    const taken = await new Semaphore(a, "/many", { leases: 1 }).acquire();
    expect(await new Semaphore(zk, "/many", { leases: 1 }).tryAcquire()).toBeNull();
    await taken.release();
  },
};

test.each(Object.entries(READS))("%s are read by a client with one request at a time", async (_, read) => {
  await read(await stage.client({ inFlightMax: 1, waitingMax: 1 }));
});
