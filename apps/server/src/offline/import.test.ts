import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { ApacheType, apacheLog, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExitStatus, exitStatusOf } from "../process/exit-status.ts";
import { importFromApache } from "./import.ts";
import { parseOfflineCommand } from "./offline-command.ts";

const NUMBERS = /^ids of kept sessions begin with the numbers of Apache's servers, 1: give the servers/;
const MEMBER = "2=zk-2:2888:3888;2181";
/** The snapshot ends at 0x14. */
const NEXT = transaction({ zxid: 0x15n, type: ApacheType.DELETE, record: recordOf.delete("/null") });

let folder = "";
let apache = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-import-"));
  apache = join(folder, "apache");
  mkdirSync(join(apache, "version-2"), { recursive: true });
  put("snapshot.14", APACHE_SNAPSHOT);
  put("log.15", apacheLog([NEXT]));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, bytes: Uint8Array): void {
  writeFileSync(join(apache, "version-2", name), bytes);
}

function renameTo(name: string): void {
  renameSync(join(apache, "version-2/snapshot.14"), join(apache, "version-2", name));
}

/** The printed lines, or the status and sentence of the failure. */
async function run(...options: readonly string[]): Promise<readonly string[]> {
  const from = options.includes("--apache") ? [] : ["--apache", apache];
  const command = parseOfflineCommand(["import", ...from, ...options], () => expect.unreachable());
  if (command?.kind !== "import") expect.unreachable("it is an import");
  const lines: string[] = [];
  await importFromApache(command, { print: (line) => lines.push(line), warn: (line) => lines.push(line) });
  return lines;
}

test("a plan says what is read, and changes nothing", async () => {
  const version2 = join(apache, "version-2");
  expect(await run("--plan")).toEqual([
    expect.stringMatching(NUMBERS),
    `snapshot: ${join(version2, "snapshot.14")}`,
    `log: ${join(version2, "log.15")}`,
    "last transaction: 0x15, of 1970-01-01T00:00:01.000Z",
    "digest: not compared",
    "17 znodes; 1 session kept, with 2 ephemeral znodes",
    "the new history begins at epoch 1024",
  ]);
  expect(readdirSync(folder)).toEqual(["apache"]);
});

test("a plan for several directories says how far each goes, and which is taken", async () => {
  const other = join(folder, "other");
  cpSync(apache, other, { recursive: true });
  rmSync(join(other, "version-2/log.15"));
  writeFileSync(join(other, "myid"), "2\n");
  writeFileSync(join(other, "version-2/acceptedEpoch"), "3");
  const lines = await run("--apache", `${other},${apache}`, "--plan", "--sessions", "drop");
  expect(lines).toEqual(
    expect.arrayContaining([
      `${other}, server 2: current epoch 0, last transaction 0x14, accepted epoch 3`,
      `${apache}: current epoch 0, last transaction 0x15, accepted epoch 0`,
      `${apache} is taken: it has the latest current epoch and last transaction, 0 and 0x15`,
      "15 znodes; sessions and 2 ephemeral znodes left out",
      "the new history begins at epoch 1027",
    ]),
  );
});

test("an import says what it has made", async () => {
  const data = join(folder, "data");
  expect(await run("--data", data)).toEqual([
    expect.stringMatching(NUMBERS),
    `${data} has 17 znodes up to 0x15, of 1970-01-01T00:00:01.000Z; 1 session kept, with 2 ephemeral znodes`,
    "the new history begins at epoch 1024",
  ]);
});

test("an import makes a member of a new ensemble", async () => {
  const member = (await run("--data", join(folder, "data"), "--log", join(folder, "log"), "--as-member", MEMBER)).at(
    -1,
  );
  expect(member).toMatch(/^it is server 2 alone, of the new ensemble [0-9a-f]{16}: all others join/);
  expect(existsSync(join(folder, "log"))).toBe(true);
});

test.each<[string, () => void, ExitStatus]>([
  ["no directory", () => rmSync(apache, { recursive: true }), ExitStatus.REFUSED],
  ["no files", () => rmSync(join(apache, "version-2"), { recursive: true }), ExitStatus.REFUSED],
  ["no snapshot before the logs", () => rmSync(join(apache, "version-2/snapshot.14")), ExitStatus.REFUSED],
  ["no whole snapshot by snappy", () => renameTo("snapshot.14.snappy"), ExitStatus.DATA_DAMAGED],
  ["no whole snapshot", () => put("snapshot.14", APACHE_SNAPSHOT.subarray(1)), ExitStatus.DATA_DAMAGED],
  ["a damaged log", () => put("log.15", apacheLog([NEXT]).fill(9, 50, 51)), ExitStatus.DATA_DAMAGED],
  ["another kind of file as log", () => put("log.15", APACHE_SNAPSHOT), ExitStatus.DATA_DAMAGED],
  ["a folder as snapshot", () => mkdirSync(join(apache, "version-2/snapshot.16")), ExitStatus.DATA_UNREADABLE],
  ["a directory with files", () => mkdirSync(join(folder, "data/mine"), { recursive: true }), ExitStatus.REFUSED],
])("%s is refused in a sentence, and nothing is left behind", async (_, arrange, status) => {
  arrange();
  const hadData = existsSync(join(folder, "data"));
  const failure = await run("--data", join(folder, "data")).catch((error: unknown) => error);
  expect(exitStatusOf(failure)).toBe(status);
  expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]+$/) });
  expect(existsSync(join(folder, "data"))).toBe(hadData);
});
