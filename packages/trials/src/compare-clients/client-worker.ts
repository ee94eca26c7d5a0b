/**
 * A process with one client on one connection, which does what its parent asks for, one thing after
 * the other.
 */

import { heapBytesOf } from "../perf/heap-sampler.ts";
import { type LoopResult, runLoop } from "./closed-loop.ts";
import type { ClientName, MeasuredClient } from "./measured-client.ts";
import { connectNodeZookeeperClient } from "./node-zookeeper-client.ts";
import { connectNpmZookeeper } from "./npm-zookeeper.ts";
import { timersOf } from "./timer-count.ts";
import { loopOf, prepareNodes, type Workload } from "./workloads.ts";
import { connectZooid } from "./zooid-client.ts";

export type Order =
  | {
      readonly kind: "connect";
      readonly name: ClientName;
      readonly folder: string;
      readonly server: string;
      readonly root: string;
    }
  | { readonly kind: "measure"; readonly workload: Workload; readonly milliseconds: number }
  | { readonly kind: "heap"; readonly workload: Workload; readonly milliseconds: number }
  | { readonly kind: "timers"; readonly requests: number; readonly timeoutMs?: number | undefined }
  | { readonly kind: "close" };

export type OrderResult =
  | { readonly kind: "done" }
  | { readonly kind: "measured"; readonly result: LoopResult }
  | { readonly kind: "heap"; readonly bytesPerOperation: number }
  /** Undefined where the client cannot do what was asked. */
  | { readonly kind: "timers"; readonly count: number | undefined }
  | { readonly kind: "failed"; readonly reason: string };

const TIMERS_WINDOW = 256;
let client: MeasuredClient | undefined;
let root = "";

process.on("message", (order: Order) => void answer(order));
process.on("disconnect", () => process.exit());

async function answer(order: Order): Promise<void> {
  try {
    process.send?.(await obey(order));
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.send?.({ kind: "failed", reason } satisfies OrderResult);
  }
}

async function obey(order: Order): Promise<OrderResult> {
  if (order.kind === "connect") {
    root = order.root;
    client = await connectTo(order.name, order.server, order.folder);
    await prepareNodes(client, root);
    return { kind: "done" };
  }
  if (client === undefined) throw new Error("there is no client yet");
  switch (order.kind) {
    case "measure": {
      const limit = { milliseconds: order.milliseconds };
      return { kind: "measured", result: await runLoop({ ...loopOf(client, order.workload, root), limit }) };
    }
    case "heap": {
      const loop = loopOf(client, order.workload, root);
      let count = 0;
      const bytes = await heapBytesOf(async () => {
        ({ count } = await runLoop({ ...loop, limit: { milliseconds: order.milliseconds } }));
      });
      return { kind: "heap", bytesPerOperation: bytes / count };
    }
    case "timers":
      return { kind: "timers", count: await countTimers(client, order) };
    case "close":
      await client.close();
      return { kind: "done" };
  }
}

function connectTo(name: ClientName, server: string, folder: string): Promise<MeasuredClient> {
  switch (name) {
    case "zooid":
      return connectZooid(server);
    case "node-zookeeper-client":
      return connectNodeZookeeperClient(server, folder);
    case "zookeeper":
      return connectNpmZookeeper(server, folder);
  }
}

async function countTimers(
  client: MeasuredClient,
  { requests, timeoutMs }: { readonly requests: number; readonly timeoutMs?: number | undefined },
): Promise<number | undefined> {
  const loop = loopOf(client, { name: "timers", operation: "getData", window: TIMERS_WINDOW }, root);
  const path = `${root}/node-0`;
  const { getWithin } = client;
  if (timeoutMs !== undefined && getWithin === undefined) return undefined;
  const ask: typeof loop.ask =
    timeoutMs === undefined || getWithin === undefined ? loop.ask : (_index, done) => getWithin(path, timeoutMs, done);
  return timersOf(async () => {
    await runLoop({ ...loop, ask, limit: { requests } });
  });
}
