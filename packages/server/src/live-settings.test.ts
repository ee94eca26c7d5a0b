/** A reload has the effect of a start with the same options, for everything that it changes. */
import { OpCode } from "@zooid/model";
import { create, multiBody, RawClient, read, setData } from "@zooid/wire/testing/raw-client";
import { describe, expect, test } from "vitest";
import type { ServerOptions } from "./config.ts";
import type { LiveSettings } from "./live-settings.ts";
import type { ZooidServer } from "./server-api.ts";
import { startTestServer } from "./testing/server.ts";

type TestServer = ZooidServer & { readonly lines: string[] };

interface Row {
  readonly options: ServerOptions;
  /** The effect that a client sees. */
  readonly see: (zk: TestServer) => Promise<unknown>;
}

/** Rows for what a client of one server sees; what else there is, and the test of it. */
const ROWS: Readonly<Record<keyof LiveSettings, Row | string>> = {
  fourLetterWords: {
    options: { fourLetterWords: "ruok" },
    see: async ({ port }) => {
      await using client = await RawClient.open(port);
      client.send(Buffer.from("ruok"));
      return (await client.rest()).toString();
    },
  },
  connectionsPerAddressMax: { options: { connectionsPerAddressMax: 1 }, see: admissions },
  connectionsMax: { options: { connectionsMax: 2 }, see: admissions },
  connectionThrottle: { options: { connectionThrottle: { tokens: 1, fillMs: 1_000_000 } }, see: admissions },
  sessionTimeoutMsMin: { options: { sessionTimeoutMsMin: 5000 }, see: (zk) => timeoutFor(zk, 1) },
  sessionTimeoutMsMax: { options: { sessionTimeoutMsMax: 6000 }, see: (zk) => timeoutFor(zk, 1_000_000) },
  enforceQuota: {
    options: { enforceQuota: true },
    see: (zk) => {
      const limits = "count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=2";
      const nodes = [
        ["/a", ""],
        ["/zookeeper/quota/a", ""],
        ["/zookeeper/quota/a/zookeeper_limits", limits],
        ["/zookeeper/quota/a/zookeeper_stats", ""],
      ] as const;
      const creates = nodes.map(([path, data]) => [OpCode.CREATE, create(path, data)] as const);
      return codes(zk, ...creates, [OpCode.SET_DATA, setData("/a", "far too long")]);
    },
  },
  heldBytesMax: {
    options: { heldBytesMax: 1024 * 1024 },
    see: (zk) =>
      codes(zk, ...["/a", "/b"].map((path) => [OpCode.CREATE, create(path, new Uint8Array(900_000))] as const)),
  },
  multiPartsMax: {
    options: { multiPartsMax: 1 },
    see: (zk) => codes(zk, [OpCode.MULTI, multiBody([OpCode.CREATE, create("/a")], [OpCode.CREATE, create("/b")])]),
  },
  childrenBytesMax: {
    options: { childrenBytesMax: 100 },
    see: (zk) => codes(zk, [OpCode.CREATE, create(`/${"n".repeat(200)}`)]),
  },
  watchBytesMax: {
    options: { watchBytesMax: 1 },
    see: async ({ port, lines }) => {
      await using client = await RawClient.withSession(port);
      await client.ask(OpCode.EXISTS, read("/watched", true)).catch(() => {});
      return lines.some((line) => line.includes("watches"));
    },
  },
  slowRequestMs: "packages/replica: replica-limits.test.ts",
  fsyncWarnMs: "packages/txn-log: log-settings.test.ts",
  retention: "packages/txn-log: log-settings.test.ts",
  history: "storage/live-history.slow.test.ts",
  backup: "storage/live-history.slow.test.ts",
  disk: "disk/disk-guard.test.ts",
  auth: "clients/auth-failures.test.ts",
};

/** Whether each of three clients that come one after the other gets a session. */
async function admissions({ port }: TestServer): Promise<readonly boolean[]> {
  await using clients = new AsyncDisposableStack();
  const admitted: boolean[] = [];
  for (let i = 0; i < 3; i++) {
    const client = clients.use(await RawClient.open(port));
    const session = await client.handshake().catch(() => undefined);
    admitted.push(session !== undefined);
  }
  return admitted;
}

async function timeoutFor({ port }: TestServer, timeoutMs: number): Promise<number> {
  await using client = await RawClient.open(port);
  return (await client.handshake({ timeoutMs })).timeoutMs;
}

type Ask = Parameters<RawClient["ask"]>;

async function codes(
  { port }: TestServer,
  ...asks: readonly (readonly [Ask[0], Ask[1]])[]
): Promise<readonly number[]> {
  await using client = await RawClient.withSession(port);
  const found: number[] = [];
  for (const [op, body] of asks) found.push((await client.ask(op, body)).code);
  return found;
}

describe("a reload has the effect of a start with the option:", () => {
  const seen = Object.entries(ROWS).filter((entry): entry is [string, Row] => typeof entry[1] === "object");

  test.each(seen)("%s", async (_, { options, see }) => {
    const views: unknown[] = [];
    {
      await using plain = await startTestServer();
      views.push(await see(plain));
    }
    {
      await using limited = await startTestServer(options);
      views.push(await see(limited));
    }
    await using reloaded = await startTestServer();
    expect(reloaded.reload(options, { isDryRun: true }).problems).toEqual([]);
    views.push(await see(reloaded));
    await using again = await startTestServer();
    expect(again.reload(options).problems).toEqual([]);
    views.push(await see(again));
    const [plain, limited] = views;
    expect(views).toEqual([plain, limited, plain, limited]);
    expect(plain).not.toEqual(limited);
  });
});

test("what a start would refuse changes nothing, and neither does another tick", async () => {
  await using zk = await startTestServer({ sessionTimeoutMsMax: 7000 });
  const { problems } = zk.reload({ connectionsMax: -1, sessionTimeoutMsMax: 8000 });
  expect(problems).toEqual(["maxCnxns is a whole number from 0 to 2147483647, found -1"]);
  expect(await timeoutFor(zk, 1_000_000)).toBe(7000);
  // The defaults of timeouts follow the tick, which changes at the next start.
  expect(zk.reload({ tickMs: 100 }).problems).toEqual([]);
  expect(await timeoutFor(zk, 1_000_000)).toBe(40_000);
  expect(zk.reload({ tickMs: 100, sessionTimeoutMsMax: 3000 }).problems).toEqual([
    "minSessionTimeout (4000) is above maxSessionTimeout (3000) while tickTime is 2000: tickTime changes at the next start",
  ]);
  expect(await timeoutFor(zk, 1_000_000)).toBe(40_000);
});

test("a client keeps what it has beyond a lower limit", async () => {
  await using zk = await startTestServer();
  await using first = await RawClient.withSession(zk.port, { timeoutMs: 30_000 });
  await using second = await RawClient.withSession(zk.port);
  expect(zk.reload({ connectionsMax: 1, sessionTimeoutMsMax: 5000 }).problems).toEqual([]);
  for (const client of [first, second]) expect(await client.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  expect(await admissions(zk)).toEqual([false, false, false]);
});
