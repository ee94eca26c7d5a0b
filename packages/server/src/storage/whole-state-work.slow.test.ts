import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { expect, test, vi } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { OCTETS, SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

const PURGE = "a purge is under way: purge_status says how it ends";
const SNAPSHOT = "a snapshot is being restored";
const NO_BACKUP = "this server has no backup to restore from: zooid.backup.target is not set";

/** A request that is begun, and not read or not ended. */
function begun(port: number | undefined, method: string, path: string): ClientRequest {
  const headers = method === "GET" ? SUPER : { ...OCTETS, "transfer-encoding": "chunked" };
  const sent = request({ port, host: "127.0.0.1", path: `/commands/${path}`, method, headers, agent: false });
  // The test ends it.
  sent.on("error", () => {});
  sent.flushHeaders();
  return sent;
}

test("while one is under way the others are refused, and afterwards are not", async () => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-whole-state-"));
  await using zk = await startTestServer({
    dataDir: join(place.path, "data"),
    admin: { port: 0, rateLimiterIntervalMs: 0 },
    superDigest: SUPER_DIGEST,
    history: { retainMs: 3_600_000, fileMs: 200 },
  });
  const { adminPort } = zk;
  const post = async (path: string, body = ""): Promise<unknown> => {
    const answer = await ask(adminPort, `/commands/${path}`, { method: "POST", headers: OCTETS, body });
    return JSON.parse(answer.body).error;
  };
  const errors = async () => ({
    purge: await post("purge_history?through=0x0&dryRun=true"),
    snapshot: await post("restore", "no snapshot"),
    restore: await post("restore_state?to=0x1"),
    planned: await post("restore_state?to=0x1&plan=true"),
  });
  const alone = {
    purge: null,
    snapshot: expect.stringContaining("a snapshot was refused at byte 0"),
    restore: NO_BACKUP,
    planned: NO_BACKUP,
  };
  expect(await errors()).toEqual(alone);

  // A snapshot whose end does not come.
  const sending = begun(adminPort, "POST", "restore");
  sending.write("ZKSN");
  await vi.waitFor(async () => expect(await post("restore_state?to=0x1")).toBe(SNAPSHOT), 20_000);
  expect(await errors()).toEqual({ purge: SNAPSHOT, snapshot: SNAPSHOT, restore: SNAPSHOT, planned: SNAPSHOT });
  sending.destroy();
  await vi.waitFor(async () => expect(await post("restore_state?to=0x1")).toBe(NO_BACKUP), 20_000);

  // A purge that waits for a state that is sent, and is not read.
  {
    await using client = await RawClient.withSession(zk.port);
    for (let i = 0; i < 12; i++) await client.ask(OpCode.CREATE, create(`/large-${i}`, "x".repeat(1_000_000)));
  }
  const reading = begun(adminPort, "GET", "snapshot");
  const [response] = await once(reading, "response");
  expect(await post("purge_history?through=0x0")).toBeNull();
  expect(await errors()).toEqual({ purge: PURGE, snapshot: PURGE, restore: PURGE, planned: PURGE });
  response.destroy();
  await vi.waitFor(async () => {
    const status = await ask(adminPort, "/commands/purge_status", { headers: SUPER });
    expect(JSON.parse(status.body).state).toBe("done");
  }, 20_000);
  expect(await errors()).toEqual(alone);
});
