import { type Client, connect } from "@zooid/client";
import { LeaderLatch, Mutex } from "@zooid/recipes";
import type { Stage } from "../src/testing/stage.ts";

const CONFIG = {
  listen: "0.0.0.0:8443",
  database: { url: "postgres://db.internal/app", pool: 16 },
  features: ["search", "export"],
  limits: { requestsPerSecond: 250, bodyBytes: 1048576 },
};

/** A tree as services leave it: configuration, members, a lock that is waited for. */
export async function fillTree({ zk, server }: Stage): Promise<AsyncDisposable> {
  await zk.create("/app");
  await zk.create("/app/config", JSON.stringify(CONFIG));
  await zk.create("/app/db-password", "hunter2");
  await zk.create("/app/members");
  await zk.create("/locks");
  const clients: Client[] = [];
  for (const name of ["web-1", "web-2", "web-3"]) {
    const client = await connect(server.connectString, { defaultData: name });
    clients.push(client);
    await client.create(`/app/members/${name}`, `${name}.internal:8443`, { mode: "ephemeral" });
  }
  const locks = clients.map((client, i) => new Mutex(client, "/locks/nightly-backup", { data: `web-${i + 1}` }));
  const leader = clients.map((client, i) => new LeaderLatch(client, "/app/leader", { id: `web-${i + 1}` }));
  const waiting = new AbortController();
  const first = await locks[0]?.acquire();
  const others = locks.slice(1).map((lock) => lock.acquire({ signal: waiting.signal }).catch(() => undefined));
  return {
    async [Symbol.asyncDispose]() {
      waiting.abort();
      await Promise.all([...others, ...leader.map((latch) => latch.close())]);
      await first?.release();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
