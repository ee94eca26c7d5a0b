import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { ApacheType, apacheLog, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExitStatus, exitStatusOf } from "../process/exit-status.ts";
import { compare, inspect } from "./inspect.ts";
import { parseOfflineCommand } from "./offline-command.ts";

const LATER = transaction({ zxid: 0x15n, type: ApacheType.DELETE, record: recordOf.delete("/null") });

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-inspect-"));
  mkdirSync(join(folder, "later"));
  put("snapshot.14", APACHE_SNAPSHOT);
  put("later/snapshot.14", APACHE_SNAPSHOT);
  put("later/log.15", apacheLog([LATER]));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, name), bytes);
}

/** The printed lines, and whether two states are equal; warnings are behind an exclamation mark. */
async function run(...argv: readonly string[]): Promise<readonly (boolean | string)[]> {
  const [options, names] = [
    argv.filter((each) => each.startsWith("--")),
    argv.filter((each) => !each.startsWith("--")),
  ];
  const paths = names.map((name) => join(folder, name));
  const command = parseOfflineCommand(["inspect", ...paths, ...options], () => expect.unreachable());
  const lines: (boolean | string)[] = [];
  const output = { print: (line: string) => lines.push(line), warn: (line: string) => lines.push(`! ${line}`) };
  if (command?.kind === "inspect") await inspect(command, output);
  else if (command?.kind === "compare") lines.push(await compare(command, output));
  else expect.unreachable("it is one of these");
  return lines;
}

test("two states are compared by path", async () => {
  expect(await run("--diff", "snapshot.14", "later")).toEqual([
    '! "/" pzxid 0x13 -> 0x15',
    '- "/null" null',
    "1 znode in the first one alone, 0 in the second one alone, 1 with another content, 16 equal",
    false,
  ]);
  expect(await run("--diff", "snapshot.14", "snapshot.14")).toEqual([
    "0 znodes in the first one alone, 0 in the second one alone, 0 with another content, 18 equal",
    true,
  ]);
});

test("files are described, and damaged ones are named", async () => {
  const lines = await run("later/log.15", "snapshot.14", "--entries");
  expect(lines[1]).toBe('0x15 1970-01-01T00:00:01.000Z 0x7 DELETE "/null"');
  expect(lines).toHaveLength(2 + 1 + 18);
});

test.each<[string, readonly string[], ExitStatus]>([
  ["a file that does not exist", ["none"], ExitStatus.DATA_UNREADABLE],
  ["a damaged file", ["damaged.14"], ExitStatus.DATA_DAMAGED],
  ["a state that does not exist", ["--diff", "none", "later"], ExitStatus.REFUSED],
  ["a folder without a state", ["--diff", "later", "empty"], ExitStatus.REFUSED],
  ["a damaged state", ["--diff", "later", "damaged.14"], ExitStatus.DATA_DAMAGED],
])("%s is refused in a sentence", async (_, argv, status) => {
  put("damaged.14", APACHE_SNAPSHOT.subarray(0, 300));
  mkdirSync(join(folder, "empty"));
  const failure = await run(...argv).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]+$/) });
  expect(exitStatusOf(failure)).toBe(status);
});
