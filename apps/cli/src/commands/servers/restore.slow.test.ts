import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { formatZxid, ZXID_NONE } from "@zooid/model";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

let folder: string;
let zk: ZooidServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-restore-"));
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

async function run(format: "text" | "json", ...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1", format);
  const found = await session.run(...words, "--admin", `http://127.0.0.1:${zk.adminPort}`, "--auth", SUPER);
  return { status: await found.ended, text: found.stdout, errors: found.stderr };
}

test("restore says what it would do, asks for a confirmation, and brings back an earlier state", async () => {
  const zxids: number[] = [];
  {
    await using client = await connect(zk.connectString);
    for (const path of ["/kept", "/discarded"]) {
      await client.create(path, "one");
      zxids.push((await client.exists(path))?.czxid ?? ZXID_NONE);
    }
  }
  expect((await run("json", "backup", "now")).status).toBe(0);
  const to = formatZxid(zxids[0] as never);
  const plan = await run("text", "restore", "--to", to, "--plan");
  expect(plan.text).toMatch(
    new RegExp(`^the state at ${to} is made from the base at 0x\\w+, taken \\S+Z, with \\d+ znodes`),
  );
  expect((await run("text", "restore", "--to", to)).errors).toContain("there is no terminal to ask at");
  const outside = await run("text", "restore", "--to", "0xf00000001", "--confirm");
  expect([outside.status, outside.errors]).toEqual([1, expect.stringContaining("nothing follows it")]);
  const done = await run("text", "restore", "--to", to, "--confirm");
  expect(done.text).toContain(`the state of ${to} is restored, at 0x`);
  await using client = await connect(zk.connectString);
  expect((await client.exists("/kept"))?.czxid).toBe(zxids[0]);
  expect(await client.exists("/discarded")).toBeNull();
});
