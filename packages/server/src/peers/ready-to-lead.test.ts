import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { threadsOf } from "@zooid/txn-log/testing/threads-of";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { filter, firstValueFrom, merge } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ZooidServer } from "../server-api.ts";
import { allServe, PATIENT } from "../testing/patient.ts";
import { startTestServer } from "../testing/server.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-ready-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a member that is elected starts no thread before it leads", async () => {
  const ports = await freePorts(6);
  const members = [1, 2, 3].map((sid, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
    return { sid, host: "127.0.0.1", quorumPort, electionPort };
  });
  await using stack = new AsyncDisposableStack();
  const servers: ZooidServer[] = [];
  for (const { sid } of members) {
    const dataDir = join(folder, String(sid));
    const server = await startTestServer({
      dataDir,
      tickMs: 200,
      ensemble: { sid, servers: members, ...PATIENT },
    });
    stack.defer(() => server.stop());
    servers.push(server);
  }
  await allServe(servers);
  const leads = await Promise.all(servers.map(({ role$ }) => firstValueFrom(role$)));
  const leader = servers[leads.indexOf("leading")];
  const others = servers.filter((server) => server !== leader);
  const [, threads] = await threadsOf(async () => {
    const next = firstValueFrom(merge(...others.map(({ role$ }) => role$)).pipe(filter((role) => role === "leading")));
    await leader?.stop();
    await next;
    await allServe(others);
  });
  expect(threads).toHaveLength(0);
});
