import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { ApacheType, apacheLog, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ExitStatus, exitStatusOf } from "../process/exit-status.ts";
import { exportData } from "./export.ts";
import { importFromApache } from "./import.ts";
import { parseOfflineCommand } from "./offline-command.ts";

/** Longer than what Apache's server takes by default. */
const LONG = transaction({
  zxid: 0x15n,
  type: ApacheType.SET_DATA,
  record: recordOf.set("/null", "x".repeat(0x10_0000), 1),
});

let folder = "";
let data = "";
let out = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-export-"));
  data = join(folder, "data");
  out = join(folder, "out");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command. @returns what it prints, warnings behind an exclamation mark */
async function run(...argv: readonly string[]): Promise<readonly string[]> {
  const command = parseOfflineCommand(argv, () => expect.unreachable());
  const lines: string[] = [];
  const output = { print: (line: string) => lines.push(line), warn: (line: string) => lines.push(`! ${line}`) };
  if (command?.kind === "import") await importFromApache(command, output);
  else if (command?.kind === "export") await exportData(command, output);
  else expect.unreachable("it is one of these");
  return lines;
}

/** A data directory with all kinds of nodes but ephemeral ones, up to the first zxid of epoch 1. */
let imported = "";
beforeAll(async () => {
  const made = mkdtempSync(join(tmpdir(), "zooid-imported-"));
  imported = join(made, "data");
  writeFileSync(join(made, "snapshot.14"), APACHE_SNAPSHOT);
  writeFileSync(join(made, "log.15"), apacheLog([LONG]));
  await run("import", "--apache", made, "--data", imported);
});
afterAll(() => rmSync(dirname(imported), { recursive: true, force: true }));

/** A copy of it, which a test may damage. */
function makeData(): void {
  cpSync(imported, data, { recursive: true });
}

test("an export says what it has made, and with which flags Apache's server loads it", async () => {
  makeData();
  expect(await run("export", "--apache", out, "--data", data)).toEqual([
    `${out} has 16 znodes up to 0x3ff00000001; 2 ephemeral znodes left out`,
    "! start Apache ZooKeeper with -Dzookeeper.extendedTypesEnabled=true: without it, a server deletes 1 znode with a time to live",
    "! start Apache ZooKeeper with -Djute.maxbuffer=1048576 or more: the longest data has 1048576 bytes",
  ]);
  expect(readdirSync(join(out, "version-2"))).toHaveLength(3);
});

test("an export can be imported, and says the same then", async () => {
  makeData();
  await run("export", "--apache", out, "--data", data);
  expect(await run("import", "--apache", out, "--plan")).toEqual([
    `snapshot: ${join(out, "version-2/snapshot.3ff00000001")}`,
    "last transaction: 0x3ff00000001",
    "digest: not compared",
    "16 znodes; 0 sessions kept, with 0 ephemeral znodes",
    "the new history begins at epoch 2047",
  ]);
});

test.each<[string, () => void, ExitStatus]>([
  ["no directory", () => rmSync(data, { recursive: true }), ExitStatus.REFUSED],
  ["a directory without data", () => removeFiles(/^/), ExitStatus.REFUSED],
  ["no log", () => removeFiles(/^log/), ExitStatus.REFUSED],
  ["no state", () => removeFiles(/^state/), ExitStatus.DATA_DAMAGED],
  ["a damaged log", () => writeFileSync(newestLog(), "no log"), ExitStatus.DATA_DAMAGED],
  ["Apache's directory", () => makeApache(data), ExitStatus.DATA_FOREIGN],
  ["a place with files", () => mkdirSync(join(out, "mine"), { recursive: true }), ExitStatus.REFUSED],
  ["a file as place", () => writeFileSync(out, "mine"), ExitStatus.REFUSED],
])("%s is refused in a sentence, and nothing is left behind", async (_, arrange, status) => {
  makeData();
  arrange();
  const before = [readdirSync(folder), existsSync(data) ? readdirSync(data) : undefined];
  const failure = await run("export", "--apache", out, "--data", data).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]+$/) });
  expect(exitStatusOf(failure)).toBe(status);
  expect([readdirSync(folder), existsSync(data) ? readdirSync(data) : undefined]).toEqual(before);
});

test("a folder without a history is refused in a sentence", async () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const failure = await run("export", "--apache", out, "--from", empty).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(/^.* has no base, a copy of the whole state, .*$/) });
  expect([exitStatusOf(failure), readdirSync(folder)]).toEqual([ExitStatus.REFUSED, ["empty"]]);
});

function removeFiles(names: RegExp): void {
  for (const name of readdirSync(data)) if (names.test(name)) rmSync(join(data, name), { recursive: true });
}

function makeApache(directory: string): void {
  removeFiles(/^/);
  mkdirSync(join(directory, "version-2"));
  writeFileSync(join(directory, "version-2/snapshot.14"), APACHE_SNAPSHOT);
}

function newestLog(): string {
  const names = readdirSync(data).filter((name) => /^log-.*\.db$/.test(name));
  return join(data, names.toSorted().at(-1) ?? expect.unreachable("it has a log"));
}

test("sessions that Apache's servers can continue are kept and counted", async () => {
  makeData();
  expect((await run("export", "--apache", out, "--data", data, "--sessions", "keep")).slice(0, 2)).toEqual([
    `${out} has 18 znodes up to 0x7ff00000001; 0 ephemeral znodes left out`,
    "1 session kept; 0 sessions with passwords that Apache does not know ended",
  ]);
});
