/**
 * Shows the cost and the benefit of fairness: several clients wait for a lock, until each has had
 * it. The fair one is granted in order of arrival and wakes one client each time; the unfair one
 * wakes all waiters, and the fastest gets it.
 *
 *     npm run example examples/src/fair-and-unfair.ts [HOST:PORT]
 */
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "@zooid/client";
import { Mutex, UnfairLock } from "@zooid/recipes";
import { zookeeper } from "./zookeeper.ts";

const WAITERS = 30;

await using ensemble = await zookeeper();
// A session each, as in processes of their own.
const clients = await Promise.all(Array.from({ length: WAITERS }, () => connect(ensemble.connectString)));

for (const [kind, lockOf] of [
  ["fair", (i: number): Mutex | UnfairLock => new Mutex(clients[i] ?? fail(), "/examples/locks/fair")],
  ["unfair", (i: number): Mutex | UnfairLock => new UnfairLock(clients[i] ?? fail(), "/examples/locks/unfair")],
] as const) {
  const locks = clients.map((_, i) => lockOf(i));
  const first = await locks[0]?.acquire();
  const order: number[] = [];
  const waiting: Promise<unknown>[] = [];
  for (const [i, lock] of locks.entries()) {
    if (i > 0) waiting.push(lock.use(() => order.push(i)));
    // One after the other, so that there is an order of arrival.
    await clients[i]?.sync();
  }
  await pause(50);
  const [sentBefore, startMs] = [await packetsSent(), performance.now()];
  await first?.release();
  await Promise.all(waiting);
  const elapsedMs = performance.now() - startMs;
  const packets = (await packetsSent()) - sentBefore;
  const isInOrder = order.every((who, i) => i === 0 || who > (order[i - 1] ?? 0));
  const perHandover = `${(packets / order.length).toFixed(1)} packets and ${(elapsedMs / order.length).toFixed(1)} ms`;
  console.log(`${kind}: ${order.length} hand-overs, ${isInOrder ? "in order" : "in no order"}, ${perHandover} each`);
}
await Promise.all(clients.map((client) => client.close()));

/** The number of packets sent by the server, answers and events, by its own count. */
async function packetsSent(): Promise<number> {
  const [host = "", port = ""] = ensemble.connectString.split(":");
  const socket = connectSocket(Number(port), host).setEncoding("utf8");
  socket.end("srvr");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  await once(socket, "close");
  return Number(/Sent: (\d+)/.exec(answer)?.[1]);
}

function fail(): never {
  throw new Error("there are as many clients as locks");
}
