/**
 * Properties of all locks and elections while their server restarts. `checklist.test.ts` has the
 * others.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, isZkError } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { describe, expect, test } from "vitest";
import { type Held, RECIPES } from "./testing/contenders.ts";

const PATH = "/checked";

describe.each(RECIPES.map((kind) => [kind.name, kind] as const))("%s", (_, kind) => {
  test("contenders hold it one after the other while the server restarts", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "checklist-"));
    const options = { dataDir, tickMs: 100, sessionTimeoutMsMax: 60_000 };
    let server = await startServer({ ...options, port: 0 });
    const { port } = server;
    const clients = await Promise.all([1, 2, 3].map(() => connect(`127.0.0.1:${port}`, { random: () => 0 })));
    try {
      const holding = new Set<Held>();
      const begun = Promise.withResolvers<void>();
      let turns = 0;
      const work = clients.map(async (zk, i) => {
        for (let own = 0; own < 6; ) {
          const held = await kind
            .make(zk, { path: PATH, name: `c${i}-${own}`, onSuspended: "keep", below: () => 1 })
            .acquire({})
            .catch((error: unknown) => {
              if (!isZkError(error) || !error.retriable) throw error;
            });
          if (held === undefined) continue;
          holding.add(held);
          const valid = [...holding].filter(({ grant }) => grant.isValid());
          expect(valid.length).toBeLessThanOrEqual(kind.holderCountMax);
          await zk.sync().catch(() => {});
          holding.delete(held);
          await held.release();
          own++;
          if (++turns === 4) begun.resolve();
        }
      });
      const stop = begun.promise.then(async () => {
        await server.stop();
        server = await startServer({ ...options, port });
      });
      await Promise.all([...work, stop]);
      expect(turns).toBe(18);
    } finally {
      await Promise.all(clients.map((zk) => zk.close()));
      await server.stop();
      rmSync(dataDir, { recursive: true });
    }
  });
});
