import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adminCommand, connect, isZkError, tlsTransport } from "@zooid/client";
import { type ServerOptions, startServer, type ZooidServer } from "@zooid/embedded-server";
import { AUTHORITY, HOST } from "@zooid/embedded-server/testing/certificates";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FOLLOWING, optionsWith, type RangePlace, statedRanges } from "./stated-ranges.ts";

/** Time for a session that lives a millisecond to get a write through. */
const DEADLINE_MS = 20_000;

let folder = "";
const place = (): RangePlace => ({
  dataDir: join(folder, "data"),
  backupDir: join(folder, "backup"),
  keyStore: join(folder, "store.pem"),
});
const overflows: string[] = [];
const noteOverflow = (warning: Error): void => {
  if (warning.name === "TimeoutOverflowWarning") overflows.push(warning.message);
};
function makePlace(): void {
  folder = mkdtempSync(join(tmpdir(), "zooid-range-starts-"));
  for (const directory of [place().dataDir, place().backupDir]) mkdirSync(directory);
  writeFileSync(place().keyStore, HOST.cert + HOST.key, { mode: 0o600 });
  writeFileSync(join(place().dataDir, "myid"), "1\n");
}

/** Times in which no client can open a session: the server starts, and answers a word. */
const TOO_SHORT: ReadonlySet<string> = new Set(["maxSessionTimeout=1", "ssl.handshakeDetectionTimeoutMillis=1"]);

/** Keys that have an effect only where data are kept in files. */
const STORED = /^(?:zooid\.(?:log|history|backup|disk|scrub)|fsync)\./;

/**
 * Tests that a server starts with the least and with the greatest value of each key of zoo.cfg that
 * states a range, and serves a write. Ports are left to the system.
 *
 * @param kept the keys that are tried: those about files, which take longer, or the others
 */
export function testRangeStarts(kept: "in files" | "in memory"): void {
  beforeEach(() => {
    makePlace();
    overflows.length = 0;
    process.on("warning", noteOverflow);
  });
  afterEach(() => {
    process.off("warning", noteOverflow);
    rmSync(folder, { recursive: true });
  });
  test.each(endsOf(kept))("a server with %s=%s serves a write", async (key, value) => {
    await using server = await startServer(await startable(key, value));
    if (TOO_SHORT.has(`${key}=${value}`)) {
      expect(await adminCommand(server.connectString, "srvr")).toContain("Mode: standalone");
      return;
    }
    // A server that reserves more room than its disk has refuses all that adds data.
    await serve(server, /^(?:ssl|netty)\./.test(key), key.startsWith("zooid.disk."));
    // An idle time of a millisecond ends connections before their first request.
    if (key.startsWith("admin.") && value !== "1")
      expect((await fetch(`http://127.0.0.1:${server.adminPort}/commands/ruok`)).ok).toBe(true);
    expect(overflows).toEqual([]);
  });
}

/** The ranges are the same for any place. */
function endsOf(kept: "in files" | "in memory"): readonly (readonly [key: string, value: string])[] {
  makePlace();
  const ranges = statedRanges(place()).filter(
    ({ key }) => !/Port$/.test(key) && !FOLLOWING.test(key) && STORED.test(key) === (kept === "in files"),
  );
  rmSync(folder, { recursive: true });
  return ranges.flatMap(({ key, least, most }) => [[key, least] as const, [key, most] as const]);
}

async function startable(key: string, value: string): Promise<ServerOptions> {
  const { dataDir, logDir: _, ensemble, ...options } = optionsWith(key, value, place());
  const [quorumPort = 0, electionPort = 0] = ensemble === undefined ? [] : await freePorts(2);
  return {
    ...options,
    ...(STORED.test(key) && dataDir !== undefined ? { dataDir } : {}),
    ...(ensemble === undefined
      ? {}
      : {
          ensemble: { ...ensemble, servers: ensemble.servers.map((each) => ({ ...each, quorumPort, electionPort })) },
        }),
  };
}

/** A write that is shorter than the shortest frame that a server may be limited to. */
async function serve(server: ZooidServer, isSecure: boolean, isRead: boolean): Promise<void> {
  const [address, transport] = isSecure
    ? ([`127.0.0.1:${server.securePort}`, { transport: tlsTransport({ ca: AUTHORITY }) }] as const)
    : ([server.connectString, {}] as const);
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    try {
      await using client = await connect(address, transport);
      await (isRead ? client.get("/") : client.set("/", "x"));
      return;
    } catch (error) {
      // A session of a millisecond may end before its first request.
      if (!isZkError(error) || performance.now() > deadlineMs) throw error;
    }
  }
}
