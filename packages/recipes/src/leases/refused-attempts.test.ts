import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, isZkError, retry } from "@zooid/client";
import { Relay } from "@zooid/client/testing";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { LeaderLatch } from "../elections/leader-latch.ts";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { UnfairElection } from "../elections/unfair-election.ts";
import { GroupMember } from "../members/group-member.ts";
import { PersistentNode } from "../members/persistent-node.ts";

/** Each repeats what it needs until it succeeds. */
const REPEATED: Readonly<Record<string, (zk: Client) => AsyncDisposable>> = {
  "a latch": (zk) => new LeaderLatch(zk, "/latch"),
  "a selector": (zk) => {
    const selector = new LeaderSelector(zk, "/selector", () => {});
    selector.start();
    return selector;
  },
  "an unfair election": (zk) => new UnfairElection(zk, "/unfair"),
  "a member": (zk) => new GroupMember(zk, "/group", { id: "a" }),
  "a persistent node": (zk) => new PersistentNode(zk, { path: "/node", data: "" }),
};

test("a server without room is asked again after growing pauses", async () => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-full-"));
  const disk = { reserveBytes: Number.MAX_SAFE_INTEGER };
  await using server = await startServer({ port: 0, dataDir: place.path, disk });
  // The client's own pauses, without this option, are as long.
  await using zk = await connect(server.connectString, { retry: retry.none });
  for (const [name, begin] of Object.entries(REPEATED)) {
    let refusedCount = 0;
    const counted = zk.with({
      intercept: async (_call, next) => {
        try {
          return await next();
        } catch (error) {
          if (isZkError(error, "OPERATION_TIMEOUT")) refusedCount++;
          throw error;
        }
      },
    });
    await using _recipe = begin(counted);
    while (refusedCount === 0) await zk.sync();
    // Without pauses there would be about one attempt for each two of these.
    for (let i = 0; i < 60; i++) await zk.sync();
    expect([name, refusedCount < 8]).toEqual([name, true]);
  }
});

test("while the queue of the client is full, its other work continues, and a node is there once it has room", async () => {
  await using server = await startServer({ port: 0 });
  await using relay = await Relay.start(server);
  await using zk = await connect(`127.0.0.1:${relay.port}`, { inFlightMax: 1, waitingMax: 1 });
  relay.freeze();
  const reads = [zk.exists("/"), zk.exists("/")];
  await using node = new PersistentNode(zk, { path: "/node", data: "" });
  await new Promise((resolve) => setImmediate(resolve));
  relay.thaw();
  await Promise.all(reads);
  await node.ready();
});
