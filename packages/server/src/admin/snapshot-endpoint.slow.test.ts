import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode, OpCode } from "@zooid/model";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { metric, restore, shown, snapshotOf, start } from "../testing/snapshot-endpoint.ts";

let place = "";
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-snapshots-"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

test("a server can be restored into again and again, from its own snapshots, and clients that come meanwhile are served", async () => {
  await using zk = await start(join(place, "data"));
  for (let round = 1; round <= 3; round++) {
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create(`/round-${round}`));
    const { bytes } = await snapshotOf(zk);
    await client.ask(OpCode.CREATE, create(`/lost-${round}`));
    const restoring = restore(zk, bytes);
    await client.rest();
    await using next = await RawClient.withSession(zk.port);
    expect((await restoring).status).toBe(200);
    expect(await shown(next, `/lost-${round}`)).toBe(ErrorCode.NO_NODE);
    for (let i = 1; i <= round; i++) expect(await shown(next, `/round-${i}`)).toMatchObject({ data: "" });
  }
});

test("both are limited to one per interval, and refusals are counted", async () => {
  await using zk = await start(join(place, "data"), { rateLimiterIntervalMs: 2_000_000_000 });
  const { bytes } = await snapshotOf(zk);
  const { response } = await snapshotOf(zk);
  expect(response.status).toBe(429);
  const retryAfterSeconds = Number(response.headers.get("retry-after"));
  expect(retryAfterSeconds).toBeGreaterThan(1900);
  expect(retryAfterSeconds).toBeLessThanOrEqual(2000);
  expect((await restore(zk, bytes)).status).toBe(200);
  expect((await restore(zk, bytes)).status).toBe(429);
  expect(await metric(zk, "snapshot_rate_limited_count")).toBe(1);
  expect(await metric(zk, "restore_rate_limited_count")).toBe(1);
});
