import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { formatZxid, type Zxid } from "@zooid/model";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

let folder: string;
let zk: ZooidServer;
let audited: string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-purge-"));
  audited = [];
  zk = await startServer({
    port: 0,
    dataDir: join(folder, "data"),
    admin: { port: 0 },
    superDigest: SUPER_DIGEST,
    history: { retainMs: 3_600_000, fileMs: 100 },
  });
  zk.audit$.subscribe((records) => audited.push(...records.map(({ operation, result }) => `${operation} ${result}`)));
});
afterAll(async () => {
  await zk.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(format: "text" | "json", words: readonly string[], auth: readonly string[] = ["--auth", SUPER]) {
  await using session = await Session.open("127.0.0.1:1", format);
  const found = await session.run("purge-history", ...words, "--admin", `http://127.0.0.1:${zk.adminPort}`, ...auth);
  const objects = format === "json" ? found.objects : [];
  return { status: await found.ended, text: found.stdout, errors: found.stderr, objects };
}

test("a purge says first what it would remove, and removes it with --confirm", async () => {
  await using client = await connect(zk.connectString);
  await client.create("/a", "one");
  await client.set("/a", "two");
  const { mzxid } = await client.set("/a", "three");
  const through = ["--through", formatZxid(mzxid)];
  const plan = await run("text", through);
  expect([plan.status, plan.text.replaceAll(/0x\w+|\d+/g, "N")]).toEqual([
    0,
    expect.stringMatching(
      /^would be removed for good, up to N: N files? and N whole states? of the history( \(N bytes of files\))?\nnothing was removed: --confirm removes it\n$/,
    ),
  ]);
  expect(audited.filter((line) => line.startsWith("purge"))).toEqual([]);
  const purged = await run("json", [...through, "--confirm"]);
  expect(purged.objects).toEqual([
    {
      command: "purge-history",
      through: formatZxid(mzxid),
      removed: true,
      files: expect.any(Number),
      bases: expect.any(Number),
      backup_objects: null,
      base_zxid: expect.stringMatching(/^0x/),
    },
  ]);
  expect(audited.filter((line) => line.startsWith("purge"))).toEqual(["purgeHistory success"]);
  await expect(client.get("/a", { at: (mzxid - 1) as Zxid })).rejects.toThrow(/HISTORY_GONE/);
  // Until the next file, too.
  for await (const item of client.history("/a")) expect.unreachable(item.kind);
  const gone = client.history("/a", { after: (mzxid - 1) as Zxid }).next();
  await expect(gone).rejects.toThrow(/HISTORY_GONE.*begins at 0x/);
  expect((await client.get("/a")).data).toEqual(new Uint8Array(Buffer.from("three")));
  const again = await run("text", [...through, "--confirm"]);
  expect([again.status, again.text]).toEqual([0, expect.stringMatching(/^removed for good, up to 0x\w+: 0 files/)]);
});

test("without rights, a point, or a backup the reason and the status say so, and nothing is removed", async () => {
  expect((await run("json", ["--through", "0x1"], [])).status).toBe(4);
  expect((await run("json", [])).status).toBe(2);
  const refused = await run("json", ["--through", "2026-05-31T23:59:00Z", "--backups", "--confirm"]);
  expect([refused.status, refused.objects]).toMatchObject([
    1,
    [{ error: { message: "the server refuses: this server has no backup: zooid.backup.target is not set" } }],
  ]);
  expect(audited.at(-1)).toBe("purgeHistory failure");
});

test("the statuses of docs/operations.md are those in which the command ends", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../../docs/operations.md"), "utf8");
  const [, table = ""] = page.split("| status of `purge-history` | means |\n");
  const listed = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (\d+) \|/gm)].map(([, status]) => Number(status));
  await using away = await Session.open("127.0.0.1:1", "json");
  const unreachable = await away.run("purge-history", "--through", "0x1", "--admin", "http://127.0.0.1:1");
  const ended = [
    (await run("json", ["--through", "0x0"])).status,
    (await run("json", ["--through", "0x7700000000"])).status,
    (await run("json", ["--through", "soon"])).status,
    await unreachable.ended,
    (await run("json", ["--through", "0x0"], [])).status,
  ];
  expect(ended).toEqual(listed);
});
