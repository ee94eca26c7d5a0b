/** Restores to two directories, of long sessions, and from histories that are not what they say. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CreateMode, OpCode, type Zxid } from "@zooid/model";
import { listArchive, listBases } from "@zooid/txn-log/sqlite";
import { rewriteFooter } from "@zooid/txn-log/testing/archive-pieces";
import { create, multiBody, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ArchivedHistory, type Moment } from "../testing/archived-history.ts";
import { startTestServer } from "../testing/server.ts";
import { inspectHistory } from "./inspect/inspect-history.ts";
import { type Restored, restoreHistory } from "./restore-history.ts";
import { planRestore } from "./restore-plan.ts";

const EPHEMERALS = 1201;

let history: ArchivedHistory;
let moments: readonly Moment[];
/** When the session with many nodes was open. */
let full: Zxid;
/** A copy of the archive for each test. */
let archive: string;
let directories: { readonly dataDir: string; readonly logDir: string };
let testCount = 0;

beforeAll(async () => {
  history = await ArchivedHistory.make();
  moments = await history.write(2);
  await using server = await history.start();
  await using client = await RawClient.withSession(server.port);
  await client.ask(OpCode.CREATE, create("/many", ""));
  for (let first = 0; first < EPHEMERALS; first += 400) {
    const paths = Array.from({ length: Math.min(400, EPHEMERALS - first) }, (_, i) => `/many/${first + i}`);
    const parts = paths.map((path) => [OpCode.CREATE, create(path, "", CreateMode.EPHEMERAL)] as const);
    ({ zxid: full } = numbered(await client.ask(OpCode.MULTI, multiBody(...parts))));
  }
});
afterAll(() => history[Symbol.asyncDispose]());

beforeEach(() => {
  const folder = join(history.folder, `test-${testCount++}`);
  archive = join(folder, "archive");
  cpSync(history.archive, archive, { recursive: true });
  directories = { dataDir: join(folder, "state"), logDir: join(folder, "log") };
});

function numbered({ zxid }: { readonly zxid: unknown }): { readonly zxid: Zxid } {
  return { zxid: Number(zxid) as Zxid };
}

function restored(zxid?: Zxid, keepsSessions = false): Promise<Restored> {
  const plan = planRestore(archive, zxid === undefined ? undefined : { zxid });
  return restoreHistory(plan, { directories, command: "restore", member: undefined, keepsSessions, warn: () => {} });
}

/** The error of a restore, which leaves nothing. */
async function refusal(): Promise<string> {
  const failed = await restored(full).then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  expect([existsSync(directories.dataDir), existsSync(directories.logDir)]).toEqual([false, false]);
  return failed;
}

describe("a restore to two directories", () => {
  test("has the log in its own, and serves what was restored", async () => {
    const [, second] = moments;
    await restored(second?.zxid);
    expect(readdirSync(directories.logDir).some((name) => /^log-.*\.db$/.test(name))).toBe(true);
    expect(readdirSync(directories.dataDir).filter((name) => /^log-.*\.db$/.test(name))).toEqual([]);
    await using zk = await startTestServer(directories);
    await using client = await RawClient.withSession(zk.port);
    const { body } = await client.ask(OpCode.GET_DATA, read("/a/b"));
    expect(body.text()).toBe("0.2");
  });

  test.each(["dataDir", "logDir"] as const)("is refused where its %s has files, and leaves those", async (used) => {
    mkdirSync(directories[used], { recursive: true });
    writeFileSync(join(directories[used], "file"), "");
    await expect(restored()).rejects.toThrow(`${directories[used]} is not empty`);
    expect(readdirSync(directories[used])).toEqual(["file"]);
    expect(existsSync(directories[used === "dataDir" ? "logDir" : "dataDir"])).toBe(false);
  });

  test("that fails leaves the directories that were there, empty", async () => {
    for (const each of Object.values(directories)) mkdirSync(each, { recursive: true });
    const [base] = listBases(join(archive, "base"));
    writeFileSync(join(base?.folder ?? "", "0000"), "");
    await expect(restored()).rejects.toThrow("is damaged");
    expect(Object.values(directories).map((each) => readdirSync(each))).toEqual([[], []]);
  });
});

test("a session with more nodes than one transaction deletes ends in parts, or is kept whole", async () => {
  const kept = await restored(full, true);
  for (const each of Object.values(directories)) rmSync(each, { recursive: true });
  const ended = await restored(full);
  expect(kept.nodeCount - ended.nodeCount).toBe(EPHEMERALS);
  // Those of the writers too.
  expect([kept.endedCount, ended.endedCount]).toEqual([0, 3]);
  await using zk = await startTestServer(directories);
  await using client = await RawClient.withSession(zk.port);
  const { body } = await client.ask(OpCode.GET_CHILDREN2, read("/many"));
  expect(body.int()).toBe(0);
});

/** Replaces fields of a base's manifest, whose sum is right again. */
function rewriteManifest(change: Readonly<Record<string, unknown>>): void {
  const [base] = listBases(join(archive, "base"));
  const file = join(base?.folder ?? "", "manifest.json");
  const [json = ""] = readFileSync(file, "utf8").split("\n");
  const text = `${JSON.stringify({ ...JSON.parse(json), ...change })}\n`;
  writeFileSync(file, `${text}${createHash("sha256").update(text).digest("hex")}\n`);
}

describe("a restore from a history", () => {
  const last = (): string => listArchive(join(archive, "log")).at(-1)?.file ?? "";

  test("whose file has another sum than its footer says is refused", async () => {
    rewriteFooter(last(), () => ({ sha256: "0".repeat(64) }));
    expect(await refusal()).toContain(`${last()} is damaged`);
  });

  test("whose file has another chain at its end than its footer says is refused", async () => {
    rewriteFooter(last(), ({ end }) => ({ end: { ...end, chain: BigInt.asUintN(64, end.chain + 1n) as never } }));
    expect(await refusal()).toContain(`${last()} is damaged`);
  });

  test("of which a bit of a block has flipped is refused", async () => {
    const [first] = listArchive(join(archive, "log"));
    const bytes = readFileSync(first?.file ?? "");
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    writeFileSync(first?.file ?? "", bytes);
    expect(await refusal()).toContain(`${first?.file} is damaged`);
  });

  test("whose file names another digest than the tree has is refused, and restored where it names none", async () => {
    const [first] = listArchive(join(archive, "log"));
    rewriteFooter(first?.file ?? "", ({ digestHigh }) => ({ digestHigh: digestHigh ^ 1 }));
    expect(await refusal()).toContain("its digest is not the one that the tree had there");
    rewriteFooter(first?.file ?? "", () => ({ digestHigh: 0, digestLow: 0 }));
    expect(await restored(full)).toMatchObject({ zxid: full });
  });

  test("whose base names another digest than the tree has is refused, and restored where it names none", async () => {
    rewriteManifest({ digestHigh: 1, digestLow: 2 });
    expect(await refusal()).toContain("its digest is not the one that the tree had there");
    rewriteManifest({ digestHigh: 0, digestLow: 0 });
    expect(await restored(full)).toMatchObject({ zxid: full });
  });
});

test("a damaged part of a base is found where inspect verifies, and not else", () => {
  const [base] = listBases(join(archive, "base"));
  const part = join(base?.folder ?? "", "0000");
  const bytes = readFileSync(part);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(part, bytes);
  const inspect = (isVerified: boolean): { readonly lines: readonly string[]; readonly faults: readonly string[] } => {
    const lines: string[] = [];
    const options = { hasEntries: false, hasData: false, isVerified };
    const faults = inspectHistory([archive], options, (line) => lines.push(line)).map(({ message }) => message);
    return { lines: lines.filter((line) => line.startsWith(base?.folder ?? "")), faults };
  };
  expect(inspect(true)).toEqual({ lines: [], faults: [expect.stringContaining(`${part} is damaged at its SHA-256`)] });
  expect(inspect(false).faults).toEqual([]);
  expect(inspect(false).lines).toEqual([expect.stringMatching(/taken [-\dT:.]+Z$/)]);
  rmSync(part);
  expect(inspect(true).faults).toEqual([expect.stringContaining(`${part} is damaged at the file: it is missing`)]);
});
