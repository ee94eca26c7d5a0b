import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { derivedPassword, OpCode, type SessionId, sessionIdHigh, sessionIdLow, type Zxid } from "@zooid/model";
import { readStat } from "@zooid/wire";
import { create, RawClient, read as readBody } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { closing, creating, makeApacheDirectory, opening } from "../../testing/apache-directory.ts";
import { metric, start } from "../../testing/snapshot-endpoint.ts";
import { readEnsemble } from "./choose-voter.ts";
import { importApache } from "./import-apache.ts";
import { planImport } from "./import-plan.ts";

const SEQUENTIAL_EPHEMERAL = 3;
const KEPT = 0x100_001e_99a5_0000n as SessionId;
const CLOSED = 0x200_001e_99a5_0000n as SessionId;
/** Never opened in what is left of the logs. */
const UNKNOWN = 0x300_001e_99a5_0000n as SessionId;
const TIMEOUT_MS = 20_000;
const LAST = 0x5_0000_0009n;

let folder = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-kept-"));
  const z = (counter: number): bigint => 0x5_0000_0000n + BigInt(counter);
  const apache = makeApacheDirectory(join(folder, "apache"), {
    sid: 1,
    acceptedEpoch: "6",
    currentEpoch: "5",
    snapshot: z(5),
    transactions: [
      opening(z(1), KEPT, TIMEOUT_MS),
      opening(z(2), CLOSED, TIMEOUT_MS),
      creating(z(3), "/lock", { parentCversion: 1 }),
      creating(z(4), "/lock/n-0000000000", { session: CLOSED, isEphemeral: true, parentCversion: 1 }),
      creating(z(5), "/lock/n-0000000001", { session: KEPT, isEphemeral: true, parentCversion: 2 }),
      closing(z(6), CLOSED, ["/lock/n-0000000000"]),
      creating(z(7), "/lock/n-0000000002", { session: KEPT, isEphemeral: true, parentCversion: 3 }),
      creating(z(8), "/lock/n-0000000003", { session: UNKNOWN, isEphemeral: true, parentCversion: 4 }),
      creating(LAST, "/lock/n-0000000004", { session: KEPT, isEphemeral: true, parentCversion: 5 }),
    ],
  });
  const ensemble = await readEnsemble([{ dataDir: apache }], () => {});
  const plan = planImport(ensemble, { sessions: "keep", member: undefined });
  const directories = { dataDir: join(folder, "data") };
  await importApache(ensemble.state, {
    directories,
    command: "import",
    member: undefined,
    from: apache,
    plan,
    warn: () => {},
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A client that comes from Apache's server with what it has from there. */
async function returning(port: number, sessionId: SessionId): Promise<readonly [RawClient, timeoutMs: number]> {
  const client = await RawClient.open(port);
  const password = derivedPassword(sessionIdHigh(sessionId), sessionIdLow(sessionId));
  const { timeoutMs } = await client.handshake({
    sessionId,
    password,
    timeoutMs: TIMEOUT_MS,
    lastZxidSeen: Number(LAST),
  });
  return [client, timeoutMs];
}

async function childrenOf(client: RawClient, path: string): Promise<readonly string[]> {
  const { body } = await client.ask(OpCode.GET_CHILDREN, readBody(path));
  return Array.from({ length: body.int() }, () => body.text() ?? "").sort();
}

test("a client of Apache's server continues with its session, its lock, and the next sequence number", async () => {
  await using zk = await start(join(folder, "data"));
  const [client, timeoutMs] = await returning(zk.port, KEPT);
  expect(timeoutMs).toBe(TIMEOUT_MS);
  const { body, zxid } = await client.ask(OpCode.EXISTS, readBody("/lock/n-0000000001"));
  const { czxid, ephemeralOwner } = readStat(body);
  expect([czxid, ephemeralOwner]).toEqual([0x5_0000_0005, KEPT]);
  // The history begins 1024 epochs above the highest that was accepted.
  expect(Math.floor(zxid / 2 ** 32)).toBe(6 + 1024);
  const { body: made } = await client.ask(OpCode.CREATE, create("/lock/n-", "", SEQUENTIAL_EPHEMERAL));
  expect(made.text()).toBe("/lock/n-0000000005");
  await client[Symbol.asyncDispose]();
});

test("a session that had ended is refused, and the first leader deletes what one left, by a transaction", async () => {
  await using zk = await start(join(folder, "data"));
  for (const [session, timeoutMs] of [
    [CLOSED, 0],
    [UNKNOWN, 0],
  ] as const) {
    const [client, found] = await returning(zk.port, session);
    expect(found).toBe(timeoutMs);
    await client[Symbol.asyncDispose]();
  }
  await using watcher = await RawClient.withSession(zk.port);
  await expect.poll(() => childrenOf(watcher, "/lock")).toEqual(["n-0000000001", "n-0000000002", "n-0000000004"]);
  const { body } = await watcher.ask(OpCode.EXISTS, readBody("/lock"));
  // Clients that watched the children learn by it that they have changed.
  expect(readStat(body).pzxid > (((6 + 1024) * 2 ** 32) as Zxid)).toBe(true);
});

test("kept sessions end with their ephemerals, like any, and are counted until then", async () => {
  await using zk = await start(join(folder, "data"));
  const [client] = await returning(zk.port, KEPT);
  // The owner of the orphan is counted until the leader has ended it.
  await expect.poll(() => metric(zk, "zooid_derived_password_sessions")).toBe(1);
  await client.ask(OpCode.CLOSE_SESSION);
  expect(await metric(zk, "zooid_derived_password_sessions")).toBe(0);
  await using other = await RawClient.withSession(zk.port);
  expect(await childrenOf(other, "/lock")).toEqual([]);
});

test("they are kept over another restart", async () => {
  {
    await using zk = await start(join(folder, "data"));
    const [client] = await returning(zk.port, KEPT);
    await client[Symbol.asyncDispose]();
  }
  await using zk = await start(join(folder, "data"));
  const [client, timeoutMs] = await returning(zk.port, KEPT);
  expect(timeoutMs).toBe(TIMEOUT_MS);
  await expect.poll(() => metric(zk, "zooid_derived_password_sessions")).toBe(1);
  await client[Symbol.asyncDispose]();
});
