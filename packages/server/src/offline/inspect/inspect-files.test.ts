import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { OpCode } from "@zooid/model";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { ApacheType, apacheLog, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../../testing/server.ts";
import { inspectFiles } from "./inspect-files.ts";
import type { InspectOptions } from "./inspect-options.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zooid-inspect-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SUMMARY: InspectOptions = { hasEntries: false, isVerified: false, hasData: false };

async function inspect(path: string, options: Partial<InspectOptions> = {}): Promise<readonly string[]> {
  const lines: string[] = [];
  const faults = await inspectFiles([path], { ...SUMMARY, ...options }, (line) => lines.push(line));
  return [...lines, ...faults.map(({ message }) => `fault: ${message}`)].map((line) => line.replaceAll(folder, "DIR"));
}

function put(name: string, bytes: Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

const LOG = apacheLog([
  transaction({ zxid: 1n, type: ApacheType.CREATE_SESSION, record: recordOf.number(6000) }),
  transaction({ zxid: 2n, type: ApacheType.CREATE, record: recordOf.create("/a", { data: "secret" }) }),
  transaction({ zxid: 3n, type: ApacheType.SET_DATA, record: recordOf.set("/a", "later", 1), timeMs: 2000n }),
  transaction({ zxid: 4n, type: ApacheType.SET_ACL, record: recordOf.setAcl("/a", [], 1), timeMs: 2000n }),
  transaction({ zxid: 5n, type: ApacheType.CLOSE_SESSION, record: recordOf.paths(["/e"]), timeMs: 2000n }),
  transaction({ zxid: 6n, type: ApacheType.DELETE, record: recordOf.delete("/a"), timeMs: 2000n }),
]);

test("a log of Apache's is described by its range, and by its changes without values", async () => {
  const file = put("log.1", LOG);
  const summary = `DIR/log.1: a log of Apache ZooKeeper, 6 transactions from 0x1 and up to 0x6, 1970-01-01T00:00:01.000Z to 1970-01-01T00:00:02.000Z, ${LOG.length} bytes; whole`;
  expect(await inspect(file)).toEqual([summary]);
  const later = "1970-01-01T00:00:02.000Z 0x7";
  expect(await inspect(file, { hasEntries: true })).toEqual([
    summary,
    "0x1 1970-01-01T00:00:01.000Z 0x7 CREATE_SESSION 6000 ms",
    '0x2 1970-01-01T00:00:01.000Z 0x7 CREATE "/a" 6 bytes',
    `0x3 ${later} SET_DATA "/a" 5 bytes`,
    `0x4 ${later} SET_ACL "/a"`,
    `0x5 ${later} CLOSE_SESSION "/e"`,
    `0x6 ${later} DELETE "/a"`,
  ]);
  const [, , created] = await inspect(file, { hasEntries: true, hasData: true });
  expect(created).toBe('0x2 1970-01-01T00:00:01.000Z 0x7 CREATE "/a" 6 bytes "secret" world:"anyone":31');
});

test("a log of Apache's that ends within an entry says where", async () => {
  const [line] = await inspect(put("log.1", LOG.subarray(0, -110)));
  expect(line).toMatch(/5 transactions from 0x1 .* bytes, and no whole one at byte \d+; whole$/);
});

test("a snapshot of Apache's is described by its state, and by its nodes without values", async () => {
  const file = put("snapshot.12", APACHE_SNAPSHOT);
  const content = "a snapshot of Apache ZooKeeper, the state at 0x14, 18 znodes, 2 of them ephemeral";
  expect(await inspect(file)).toEqual([`DIR/snapshot.12: ${content}, ${APACHE_SNAPSHOT.length} bytes; whole`]);
  const lines = await inspect(file, { hasEntries: true });
  expect(lines).toHaveLength(19);
  expect(lines).toContain('0x4 persistent "/a" 11 bytes version 2');
  expect(lines).toContain('0xb ttl "/ttl" 1 byte version 0');
  expect(lines.join("\n")).not.toMatch(/secret|anyone/);
  const shown = await inspect(file, { hasEntries: true, hasData: true });
  expect(shown).toContain('0x4 persistent "/a" 11 bytes "hello again" version 2 world:"anyone":31,ip:"127.0.0.1":1');
});

test("a snapshot that has changes later than its name says so", async () => {
  const withoutLast = APACHE_SNAPSHOT.subarray(0, -21);
  const [line] = await inspect(put("snapshot.12.gz", gzipSync(withoutLast)));
  expect(line).toContain("the state at 0x12, with changes up to 0x14, 18 znodes");
});

test("all files of Apache's directory are read, and damaged ones are named", async () => {
  put("snapshot.14", APACHE_SNAPSHOT);
  put("snapshot.15", APACHE_SNAPSHOT.subarray(0, 500));
  put("log.1", LOG);
  put("log.7", Buffer.from(LOG).fill(9, 60, 61));
  expect(await inspect(folder)).toEqual([
    expect.stringMatching(/^DIR\/snapshot\.14: .*; whole$/),
    expect.stringMatching(/^DIR\/log\.1: .*; whole$/),
    expect.stringMatching(/^fault: DIR\/snapshot\.15 is damaged at byte/),
    expect.stringMatching(/^fault: DIR\/log\.7 is damaged at the entry at byte \d+: its sum is another one/),
  ]);
});

test("a segment is described by its range, and by its changes; damage is named", async () => {
  {
    await using zk = await startTestServer({ dataDir: folder });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "secret"));
    // Of a running server, too.
    expect(await inspect(newestSegment())).toEqual([
      expect.stringMatching(/the newest segment, 2 transactions after 0x0/),
    ]);
    await client.ask(OpCode.SET_DATA, setData("/a", "later"));
  }
  const [summary, ...changes] = await inspect(newestSegment(), { hasEntries: true });
  expect(summary).toMatch(
    /: the newest segment, \d transactions after 0x0 and up to 0x10000000\d, 20.*Z to 20.*Z, \d+ bytes, of a server without an ensemble; whole$/,
  );
  const texts = changes.map((line) => line.replace(/^0x\S+ \S+ 0x\S+ /, ""));
  expect(texts).toEqual(expect.arrayContaining(['CREATE "/a" 6 bytes', 'SET_DATA "/a" 5 bytes']));
  change("later", "xater");
  expect(await inspect(newestSegment())).toEqual([
    expect.stringMatching(/, 2 transactions .*; its last commit is not whole, and not read$/),
  ]);
  change("xater", "later");
  change("secret", "xecret");
  expect(await inspect(newestSegment())).toEqual([expect.stringMatching(/^fault: .*-wal is damaged at frame /)]);
});

test.each([
  ["an empty file", "empty", Buffer.alloc(0)],
  ["another file", "other", Buffer.alloc(1000, "x")],
  ["a database that is no segment", "state-1.db", Buffer.from("SQLite format 3\0".padEnd(200, "x"))],
  ["an empty snapshot", "snapshot.1", Buffer.alloc(0)],
  ["a log of another kind", "log.1", Buffer.from("ZKXX".padEnd(100, "x"))],
  ["a snapshot by snappy that is none", "snapshot.1.snappy", APACHE_SNAPSHOT],
])("%s is named in a sentence", async (_, name, bytes) => {
  expect(await inspect(put(name, bytes))).toEqual([expect.stringMatching(new RegExp(`^fault: DIR/${name}[^\\n]*$`))]);
});

test("an empty log of Apache's has no transactions", async () => {
  expect(await inspect(put("log.1", Buffer.alloc(0)))).toEqual([
    "DIR/log.1: a log of Apache ZooKeeper, 0 transactions, 0 bytes; whole",
  ]);
});

/** Changes bytes in the newest segment. */
function change(found: string, to: string): void {
  const wal = `${newestSegment()}-wal`;
  writeFileSync(wal, readFileSync(wal, "latin1").replace(found, to), "latin1");
}

function newestSegment(): string {
  const names = readdirSync(folder).filter((name) => /^log-.*\.db$/.test(name));
  return join(folder, names.toSorted().at(-1) ?? expect.unreachable("it has a log"));
}
