import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openTarget } from "@zooid/backup";
import { type Chain, composeZxid, type Zxid } from "@zooid/model";
import { archiveFileName, zxidName } from "@zooid/txn-log/archive";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nextStep } from "./standby-state.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-standby-step-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (counter: number): Zxid => composeZxid(5, counter);

/** An archive by its names: `base 4` and `file 2 4`. */
function archiveWith(...names: readonly string[]): void {
  for (const name of names) {
    const [kind, ...numbers] = name.split(" ");
    const [first = at(0), end = at(0)] = numbers.map((number) => at(Number(number)));
    const file =
      kind === "base" ? join("base", zxidName(first), "manifest.json") : join("log", archiveFileName(first, end));
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
}

async function stepFrom(counter: number | undefined, isAtFileEnd: boolean): Promise<string> {
  const position = counter === undefined ? undefined : { zxid: at(counter), chain: 1n as Chain };
  try {
    const step = await nextStep(openTarget({ target: folder }), position, isAtFileEnd);
    if (step.kind === "file") return `file up to ${step.file.end - at(0)}`;
    return step.kind === "base" ? `bases ${step.bases.map(({ zxid }) => zxid - at(0)).join()}` : "level";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test.each([
  ["no state takes the newest base first", ["base 2", "base 4", "file 4 5"], undefined, "bases 4,2"],
  ["no state waits for a base", ["file 4 5"], undefined, "has no base yet"],
  ["nothing newer", ["base 4", "file 2 4"], 4, "level"],
  ["the file that leads furthest", ["base 4", "file 4 5", "file 4 6"], 4, "file up to 6"],
  ["a base at the end of what is there", ["base 6", "file 4 6"], 4, "file up to 6"],
  ["a gap with a base behind it", ["base 2", "file 2 4", "base 8", "file 8 9"], 4, "bases 8"],
  ["a base that no file leads to", ["base 8"], 4, "bases 8"],
  ["a gap without one", ["base 2", "file 6 8"], 4, "what follows it is missing; a newer base is waited for"],
] as const)("%s, behind a base and behind a file", async (_, names, from, expected) => {
  archiveWith(...names);
  for (const isAtFileEnd of [false, true]) expect(await stepFrom(from, isAtFileEnd)).toContain(expected);
});

test("a base in the middle of a file is continued by that file", async () => {
  archiveWith("base 4", "file 3 6");
  expect(await stepFrom(4, false)).toBe("file up to 6");
});
