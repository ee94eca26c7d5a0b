import type { Client } from "@zooid/client";
import type { Relay } from "@zooid/client/testing";
import { expect, test } from "vitest";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";
import { LeaderLatch } from "../elections/leader-latch.ts";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { UnfairElection } from "../elections/unfair-election.ts";
import { Mutex } from "../locks/mutex.ts";
import { Semaphore } from "../locks/semaphore.ts";
import { GroupMember } from "../members/group-member.ts";
import { PersistentNode } from "../members/persistent-node.ts";
import { SetPartitioner } from "../members/set-partitioner.ts";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, failure, type Stage } from "../testing/stage.ts";
import type { WaitOptions } from "./deadline.ts";

let stage: Stage;
eachStaged((staged) => {
  ({ stage } = staged);
});

type Close = (options?: WaitOptions) => Promise<void>;

/** Each holds something that its end deletes at a server. */
const HOLDERS: Readonly<Record<string, (zk: Client) => Promise<Close>>> = {
  "a lease": async (zk) => {
    const lease = await new Mutex(zk, "/m").acquire();
    return (options) => lease.release(options);
  },
  "leases of a semaphore": async (zk) => {
    const leases = await new Semaphore(zk, "/s", { leases: 2 }).acquire({ count: 2 });
    return (options) => leases.release(options);
  },
  "a registration": async (zk) => {
    const registration = await new ServiceDiscovery(zk, "/d").register({ name: "api" });
    return (options) => registration.close(options);
  },
  "a discovery": async (zk) => {
    const discovery = new ServiceDiscovery(zk, "/d");
    await discovery.register({ name: "api" });
    return (options) => discovery.close(options);
  },
  "a latch": async (zk) => {
    const latch = new LeaderLatch(zk, "/l");
    await latch.leadership();
    return (options) => latch.close(options);
  },
  "a selector": async (zk) => {
    const leads = Promise.withResolvers<void>();
    const selector = new LeaderSelector(zk, "/l", async (_, signal) => {
      leads.resolve();
      await aborted(signal);
    });
    selector.start();
    await leads.promise;
    return (options) => selector.close(options);
  },
  "an unfair election": async (zk) => {
    const election = new UnfairElection(zk, "/u");
    await election.leadership();
    return (options) => election.close(options);
  },
  "a member": async (zk) => {
    const member = new GroupMember(zk, "/g", { id: "a" });
    await member.ready();
    return (options) => member.close(options);
  },
  "a persistent node": async (zk) => {
    const node = new PersistentNode(zk, { path: "/n", data: "" });
    await node.ready();
    return (options) => node.close(options);
  },
  "a partitioner": async (zk) => {
    const begun = Promise.withResolvers<void>();
    const partitioner = new SetPartitioner(zk, "/p", { items: ["1"], work: () => begun.resolve(), quietMs: 10 });
    await begun.promise;
    return (options) => partitioner.close(options);
  },
};

/** A holder whose servers do not answer any more. */
async function frozen(open: (zk: Client) => Promise<Close>): Promise<{ close: Close; relay: Relay; zk: Client }> {
  const { zk, relay } = await stage.relayed();
  const close = await open(zk);
  relay.freeze("answers");
  return { close, relay, zk };
}

test.each(Object.entries(HOLDERS))(
  "%s ends within a time limit, or at a signal, while no server answers",
  async (_, open) => {
    const { close, zk, relay } = await frozen(open);
    expect(await failure(close({ timeoutMs: 20 }))).toMatchObject({
      code: "LOCK_TIMEOUT",
      message: expect.stringMatching(/ \/[a-z]/),
    });
    relay.thaw();
    await zk.close();
    const other = await frozen(open);
    const stop = new AbortController();
    const closing = failure(other.close({ signal: stop.signal }));
    stop.abort(new Error("enough"));
    expect(await closing).toMatchObject({ message: "enough" });
    other.zk.disconnect();
  },
);

test("a call that was given up continues in the background", async () => {
  const { close, relay, zk } = await frozen(async (zk) => {
    const node = new PersistentNode(zk, { path: "/n", data: "" });
    await node.ready();
    return (options) => node.close(options);
  });
  expect(isRecipeError(await failure(close({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  relay.thaw();
  await close();
  expect(await zk.exists("/n")).toBeNull();
});
