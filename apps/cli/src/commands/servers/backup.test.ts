import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

let folder: string;
let zk: ZooidServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-backup-"));
  mkdirSync(join(folder, "backup"));
  zk = await startServer({
    port: 0,
    dataDir: join(folder, "data"),
    admin: { port: 0 },
    superDigest: SUPER_DIGEST,
    history: { retainMs: 3_600_000, fileMs: 100 },
    backup: { target: join(folder, "backup") },
  });
});
afterAll(async () => {
  await zk.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(format: "text" | "json", words: readonly string[], port: number | undefined = zk.adminPort) {
  await using session = await Session.open("127.0.0.1:1", format);
  const found = await session.run("backup", ...words, "--admin", `http://127.0.0.1:${port}`);
  return { status: await found.ended, text: found.stdout, objects: format === "json" ? found.objects : [] };
}

test("now takes a base and waits until it was read back, and status says how far the backup is", async () => {
  await using client = await connect(zk.connectString);
  await client.create("/a", "one");
  const now = await run("json", ["now", "--auth", SUPER]);
  expect(now.objects).toEqual([
    {
      command: "backup",
      target: join(folder, "backup"),
      is_uploading: true,
      uploaded_by: "server 1",
      last_zxid: expect.stringMatching(/^0x/),
      complete_at: ISO,
      base_zxid: expect.stringMatching(/^0x/),
      base_taken_at: ISO,
      base_verified_at: ISO,
      gaps: 0,
      fault: null,
    },
  ]);
  const shown = await run("text", ["status", "--auth", SUPER]);
  expect(shown.text).toMatch(
    /^target: \S+backup\nuploaded by: server 1 \(this one\)\nlast transaction: 0x\w+\ncomplete at: \S+Z\nlast base: 0x\w+, taken \S+Z, read back \S+Z\n$/,
  );
});

test("both are for those who have every permission on the root", async () => {
  for (const verb of ["now", "status"]) expect((await run("json", [verb])).status).toBe(4);
});

test("a server without a backup, and a backup that fails, are refused with the reason", async () => {
  await using other = await startServer({ port: 0, admin: { port: 0 }, superDigest: SUPER_DIGEST });
  const refused = await run("json", ["now", "--auth", SUPER], other.adminPort);
  expect(refused.objects).toMatchObject([
    { error: { message: "the server refuses: this server has no backup: zooid.backup.target is not set" } },
  ]);
  rmSync(join(folder, "backup"), { recursive: true });
  const failed = await run("json", ["now", "--auth", SUPER]);
  expect(failed.status).toBe(1);
  expect(failed.objects).toMatchObject([
    { error: { message: expect.stringMatching(/^the backup is not complete: \S+backup does not exist: /) } },
  ]);
  mkdirSync(join(folder, "backup"));
  expect((await run("text", ["now", "--auth", SUPER])).status).toBe(0);
});
