import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { leader, snapshot, zxidAt } from "./testing/leader-packets.ts";
import { AT_3, ScriptedLeader } from "./testing/scripted-leader.ts";

let apache: ScriptedLeader;
let folder: string;
const processes: ChildProcess[] = [];

beforeEach(async () => {
  apache = await ScriptedLeader.start();
  folder = mkdtempSync(join(tmpdir(), "apache-peer-main-"));
});
afterEach(async () => {
  for (const each of processes.splice(0)) each.kill("SIGKILL");
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function start(...args: readonly string[]): ReturnType<typeof spawnPiped> {
  const child = spawnPiped(args);
  processes.push(child);
  return child;
}

function spawnPiped(args: readonly string[]) {
  const main = join(import.meta.dirname, "main.ts");
  return spawn(process.execPath, ["--conditions=@zooid/source", main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

test("follow prints transactions as JSON lines behind a zxid, and ends with status 0 at a signal", async () => {
  const child = start("follow", apache.hosts, "--after", "0x500000003", "--epochs", join(folder, "epochs"));
  const link = await apache.link();
  await link.establish(5);
  link.send(leader.inform(zxidAt(5, 4), "four"), leader.inform(zxidAt(5, 5), "five"));
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (lines.push(JSON.parse(line)) === 2) break;
  }
  child.kill("SIGINT");
  const [status] = await once(child, "exit");
  expect(status).toBe(0);
  const common = { kind: "transaction", type: "set-data", session: "0x7", cxid: 1, timeMs: 1000 };
  expect(lines).toEqual([
    {
      ...common,
      zxid: "0x500000004",
      changes: [{ kind: "set", path: "/a", data: "Zm91cg==", version: 1 }],
      digest: String(zxidAt(5, 4)),
    },
    {
      ...common,
      zxid: "0x500000005",
      changes: [{ kind: "set", path: "/a", data: "Zml2ZQ==", version: 1 }],
      digest: String(zxidAt(5, 5)),
    },
  ]);
});

test("--nodes prints the snapshot too", async () => {
  const child = start("follow", apache.hosts, "--nodes");
  const link = await apache.link();
  await link.greet(5);
  link.send(leader.snap(AT_3), snapshot());
  await link.serve(5);
  const kinds: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (kinds.push((JSON.parse(line) as { readonly kind: string }).kind) === 6) break;
  }
  expect(kinds).toEqual(["snapshot", "session", "acl", "node", "node", "snapshot-end"]);
});

test("a reader that closes standard output ends it", async () => {
  const child = start("follow", apache.hosts, "--after", "500000003");
  const link = await apache.link();
  await link.establish(5);
  child.stdout.destroy();
  link.send(...Array.from({ length: 10 }, (_, i) => leader.inform(zxidAt(5, 4 + i))));
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.each([
  [[], 2, "expected the command follow, found none"],
  [["follow"], 2, "expected HOST:PORT"],
  [["follow", "a:1", "b:2"], 2, "with commas"],
  [["follow", "a"], 2, "quorum ports"],
  [["follow", "a:1", "--after", "x"], 2, "--after: a zxid is hexadecimal"],
  [["follow", "a:1", "--sid", "300"], 2, "sid"],
  [["follow", "a:1", "--tls-key", "k"], 2, "given together"],
  [["follow", "a:1", "--user", "u", "--password-file", "/missing"], 2, "--password-file: ENOENT"],
  [["follow", "a:1", "--what"], 2, "--what"],
] as const)("%j ends with status %i and a sentence", async (args, status, said) => {
  const child = start(...args);
  const [found, [exit]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(found.trimEnd().split("\n")).toHaveLength(1);
  expect([exit, found]).toEqual([status, expect.stringContaining(said)]);
});

test("an ensemble of an older epoch ends it with status 1 and a sentence", async () => {
  const file = join(folder, "epochs");
  writeFileSync(file, '{"acceptedEpoch":9,"currentEpoch":9}');
  const child = start("follow", apache.hosts, "--epochs", file);
  const link = await apache.link();
  await link.next();
  link.send(leader.info(5));
  const [found, [exit]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([exit, found]).toEqual([1, expect.stringContaining("epoch 9 was accepted before")]);
});
