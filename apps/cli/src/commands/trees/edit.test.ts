import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
let client: Client;
/** For the copies of data that are edited. */
const directory = mkdtempSync(join(tmpdir(), "zooid-edits-"));
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  client = await connect(server.connectString);
  await client.create("/e", "host=db1\nport=1");
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await client.close();
  await session[Symbol.asyncDispose]();
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** Directories with copies of data. */
function copies(): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith("zooid-edit-"));
}

function useEditor(editor: string): void {
  vi.stubEnv("VISUAL", "");
  vi.stubEnv("TMPDIR", directory);
  vi.stubEnv("EDITOR", editor);
}

test("the difference is printed, and the text is written as the next version", async () => {
  useEditor("sed -i s/db1/db2/");
  const edited = await session.run("edit", "--yes", "/e");
  expect(edited.stdout.split("\n")).toEqual([
    "@@ -1,2 +1,2 @@",
    "-host=db1",
    "+host=db2",
    " port=1",
    "\\ No newline at end of file",
    "/e has version 1",
    "",
  ]);
  expect([edited.stderr, await edited.ended]).toEqual(["", 0]);
  expect(await client.getText("/e")).toBe("host=db2\nport=1");
  expect(copies()).toEqual([]);
});

test("a line end that only the editor adds changes nothing", async () => {
  useEditor("sed -i -e '$a\\'");
  expect((await session.run("edit", "--yes", "/e")).stdout).toBe("unchanged\n");
});

test("without a terminal to ask at, nothing is written unless --yes is given", async () => {
  useEditor("sed -i s/port/Port/");
  const refused = await session.run("edit", "/e");
  expect([refused.stderr.includes("terminal"), await refused.ended]).toEqual([true, 1]);
  expect(await client.getText("/e")).not.toContain("Port");
});

test("a change by another client meanwhile is not overwritten, and the text is kept", async () => {
  await client.create("/conflict", "old");
  // The editor is the other client, too.
  const other = `sh -c 'echo mine > "$1"; exec "${process.execPath}" -e "
    const { connect } = require(\\"@zooid/client\\");
    connect(\\"${server.connectString}\\").then(async (zk) => { await zk.set(\\"/conflict\\", \\"theirs\\"); await zk.close(); });
  "' sh`;
  useEditor(other);
  const refused = await session.run("edit", "--yes", "/conflict");
  expect(await refused.ended).toBe(1);
  const [, file = ""] = /kept in (\S+)/.exec(refused.stderr) ?? [];
  expect(readFileSync(file, "utf8")).toBe("mine\n");
  expect(await client.getText("/conflict")).toBe("theirs");
});

test("an editor that fails leaves the node as it is", async () => {
  useEditor("false");
  const refused = await session.run("edit", "--yes", "/e");
  expect([refused.stderr, await refused.ended]).toEqual(["false ended with status 1; nothing is written\n", 126]);
});

test("data that are no text are not opened", async () => {
  await client.create("/binary", Uint8Array.of(0xff));
  useEditor("true");
  expect(await (await session.run("edit", "--yes", "/binary")).ended).toBe(1);
});
