/**
 * Each option of a follower that states a range is taken to both ends of it, and one beyond. Names
 * and ranges come from the package's own sentences, so that a new option is tried without a line
 * here.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArgumentError } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { leader, snapshot, zxidAt } from "../testing/leader-packets.ts";
import { AT_3, ScriptedLeader } from "../testing/scripted-leader.ts";
import { follow } from "./apache-follower.ts";
import { checkFollow, type FollowOptions } from "./follow-options.ts";

function problemsOf(options: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    checkFollow("follow", "a:2888", options as FollowOptions);
    return [];
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return error.problems;
  }
}

const NAMES = (/known are (.*)$/.exec(problemsOf({ qqqqqqqq: 1 }).join())?.[1] ?? "").split(", ");

const RANGES = NAMES.flatMap((name) => {
  const [, least, most] = /from (\d+) to (\d+)/.exec(problemsOf({ [name]: 1e30 }).join()) ?? [];
  return least === undefined ? [] : [{ name, least: Number(least), most: Number(most) }];
});

test("options with numbers are found", () => {
  expect(RANGES.map(({ name }) => name)).toContain("packetBytesMax");
  expect(RANGES.length).toBeGreaterThan(5);
});

test.each(RANGES)("$name takes $least and $most, and one sentence refuses what is beyond", ({ name, least, most }) => {
  expect(problemsOf({ [name]: least })).toEqual([]);
  expect(problemsOf({ [name]: most })).toEqual([]);
  for (const value of [least - 1, most + 1, least + 0.5])
    expect(problemsOf({ [name]: value })).toEqual([
      `${name} is a whole number from ${least} to ${most}, found ${value}`,
    ]);
});

let apache: ScriptedLeader;
let folder: string;
beforeEach(async () => {
  apache = await ScriptedLeader.start();
  folder = mkdtempSync(join(tmpdir(), "apache-ranges-"));
});
afterEach(async () => {
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** A millisecond is too short for a connection, and the first number is that of a voter. */
const ENDS = RANGES.flatMap(({ name, least, most }) =>
  name.endsWith("Ms") || name === "sid" ? [[name, most] as const] : [[name, least] as const, [name, most] as const],
);

test.each(ENDS)("a follower with %s: %d gets a snapshot and a transaction", async (name, value) => {
  await using follower = follow(apache.hosts, { spoolDirectory: folder, [name]: value });
  const link = await apache.link();
  await link.greet(5);
  link.send(leader.snap(AT_3), snapshot());
  await link.serve(5);
  link.send(leader.inform(zxidAt(5, 4), "four"));
  const kinds: string[] = [];
  for await (const { kind } of follower) {
    kinds.push(kind);
    if (kind === "transaction") break;
  }
  expect(kinds).toContain("snapshot-end");
});
