import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget } from "@zooid/backup";
import { OpCode } from "@zooid/model";
import type { BuiltState } from "@zooid/txn-log/sqlite";
import { create, RawClient, setData, versioned } from "@zooid/wire/testing/raw-client";
import { TxnReader } from "@zooid/wire/txn";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";
import { StandbyState } from "./standby-state.ts";

/** The archive of a server alone. */
const OWNER = "";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-standby-"));
  const target = join(folder, "made");
  mkdirSync(target);
  await using zk = await startTestServer({
    dataDir: join(folder, "data"),
    history: { retainMs: 3_600_000 },
    backup: { target },
    admin: { port: 0 },
    superDigest: SUPER_DIGEST,
  });
  await using client = await RawClient.withSession(zk.port);
  const command = async (name: string, method: string): Promise<Readonly<Record<string, unknown>>> => {
    const { body } = await ask(zk.adminPort, `/commands/${name}`, { method, headers: { ...SUPER } });
    return JSON.parse(body) as Readonly<Record<string, unknown>>;
  };
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 20; i++) await client.ask(OpCode.CREATE, create(`/n-${round}-${i}`, `${i}`));
    await client.ask(OpCode.SET_DATA, setData("/n-0-1", `set ${round}`));
    await client.ask(OpCode.CREATE, create(`/e-${round}`, "", 1));
    await client.ask(OpCode.DELETE, versioned(`/n-${round}-3`));
    const { asked } = await command("backup_now", "POST");
    await vi.waitFor(async () => expect((await command("backup_status", "GET"))["done"]).toBe(asked), 120_000);
  }
  // The first one, and one in the middle of the files.
  const [first, , middle] = readdirSync(join(target, "base")).toSorted();
  for (const base of readdirSync(join(target, "base")))
    if (base !== first && base !== middle) rmSync(join(target, "base", base), { recursive: true });
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let archive: string;
let kept: string;
let warnings: string[];
const opened: StandbyState[] = [];
beforeEach(() => {
  archive = join(folder, "archive");
  kept = join(folder, "kept");
  warnings = [];
  cpSync(join(folder, "made"), archive, { recursive: true });
});
afterEach(() => {
  for (const state of opened.splice(0)) state.close();
  for (const each of [archive, kept]) rmSync(each, { recursive: true, force: true });
});

function stateOf(ownerId: string = OWNER): StandbyState {
  const state = new StandbyState({
    folder: kept,
    ownerId,
    decoder: new TxnReader(),
    target: () => openTarget({ target: archive }),
    warn: (text) => warnings.push(text),
    steadyMs: () => performance.now(),
  });
  opened.push(state);
  return state;
}

async function level(state: StandbyState): Promise<BuiltState> {
  while (!(await state.step()));
  if (state.facts === undefined) throw new Error("a state that is level is there");
  return state.facts;
}

const bases = (): readonly string[] => readdirSync(join(archive, "base")).toSorted();
const files = (): readonly string[] => readdirSync(join(archive, "log")).toSorted();
const lastZxid = (): number => Number.parseInt(files().at(-1)?.split("-")[1] ?? "", 16);

test("a state from an old base and many files is the one from a new base and few", async () => {
  const fromNewest = await level(stateOf());
  expect([fromNewest.applied.zxid, fromNewest.sessionCount]).toEqual([lastZxid(), 1]);
  rmSync(kept, { recursive: true });
  rmSync(join(archive, "base", bases()[1] ?? ""), { recursive: true });
  expect(await level(stateOf())).toEqual(fromNewest);
  expect(warnings).toEqual([]);
});

test("a state is continued after a restart, and nothing of the archive is left in its folder", async () => {
  const last = files().at(-1) ?? "";
  const bytes = readFileSync(join(archive, "log", last));
  rmSync(join(archive, "log", last));
  const first = stateOf();
  const before = await level(first);
  first.close();
  writeFileSync(join(archive, "log", last), bytes);
  const second = stateOf();
  const after = await level(second);
  expect(after.applied.zxid).toBeGreaterThan(before.applied.zxid);
  const left = readdirSync(kept, { recursive: true }).filter((name) => !String(name).endsWith("-journal"));
  expect([left.toSorted(), warnings]).toEqual([["log", "state.db"], []]);
});

test("a damaged file is named, and the state stays where it was", async () => {
  const last = files().at(-1) ?? "";
  const file = join(archive, "log", last);
  const bytes = readFileSync(file);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const state = stateOf();
  await expect(level(state)).rejects.toThrow(last);
  const stands = state.facts?.applied.zxid ?? 0;
  expect(stands).toBe(Number.parseInt(last.split("-")[0] ?? "", 16));
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect((await level(state)).applied.zxid).toBe(lastZxid());
});

test("behind a gap the state begins again with the next base, which is reported", async () => {
  const [, second = ""] = bases();
  rmSync(join(archive, "base", second, "manifest.json"));
  const [first = "", ...more] = files();
  for (const name of more) rmSync(join(archive, "log", name));
  const state = stateOf();
  await level(state);
  cpSync(join(folder, "made"), archive, { recursive: true });
  rmSync(join(archive, "log", first));
  for (const name of files()) if (name < second) rmSync(join(archive, "log", name));
  expect((await level(state)).applied.zxid).toBe(lastZxid());
  expect(warnings).toEqual([expect.stringContaining("begins again at")]);
});

test("a state whose file was changed is made again", async () => {
  const first = stateOf();
  const before = await level(first);
  first.close();
  const file = join(kept, "state.db");
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf("n-0-1"); at !== -1; at = bytes.indexOf("n-0-1", at + 1)) bytes[at + 4] = 0x78;
  writeFileSync(file, bytes);
  expect(await level(stateOf())).toEqual(before);
  expect(warnings).toEqual([expect.stringContaining("is made again")]);
});

test("the archive of another server is refused by name", async () => {
  await expect(level(stateOf("follows-apache"))).rejects.toThrow(
    "has the history of a server alone, and not of a server that follows an Apache ensemble",
  );
});
