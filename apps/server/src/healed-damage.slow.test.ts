import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  level,
  type MemberProcess,
  started,
  textOf,
  until,
} from "./testing/ensemble-processes.ts";

// A member of an ensemble whose files are damaged recovers automatically, from what is whole and
// from the others.

eachInDirectory();

/**
 * The smallest segments, so that a few hundred writes make several; the state file is checked all
 * the time.
 */
const SETTINGS = ["zooid.log.retainBytes=1", "zooid.scrub.everyMs=200", "zooid.scrub.bytesPerSecond=100000000"];
const VALUE = "x".repeat(2000);

async function membersWithData(): Promise<readonly MemberProcess[]> {
  const members = await started(3, { settings: SETTINGS });
  const client = await clientOf(members);
  for (let i = 0; i < 20; i++) {
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => client.create(`/node-${i * 10 + at}`, `${i * 10 + at} ${VALUE}`)),
    );
  }
  await client.close();
  return members;
}

async function followerOf(members: readonly MemberProcess[]): Promise<MemberProcess> {
  const leader = await level(members);
  const follower = members.find((member) => member !== leader);
  if (follower === undefined) throw new Error("there are three");
  return follower;
}

function segments(dataDir: string, suffix: string): string[] {
  const names = readdirSync(dataDir).filter((name) => /^log-\d{8}-/.test(name) && name.endsWith(`.db${suffix}`));
  return names.sort();
}

/** The first byte from a place on that is not zero, and a file's name. */
type Flip = readonly [name: string, at: (bytes: Buffer) => number];

const KINDS: Readonly<Record<string, (dataDir: string) => Flip>> = {
  "state file": () => ["state-1.db", (bytes) => bytes.indexOf("quota")],
  "sealed segment": (dataDir) => [segments(dataDir, "-wal")[0] ?? "", (bytes) => bytes.length / 4],
  "sealed segment's tables": (dataDir) => [
    segments(dataDir, "")[0] ?? "",
    (bytes) => bytes.indexOf("CREATE TABLE log"),
  ],
  "newest segment": (dataDir) => [segments(dataDir, "-wal").at(-1) ?? "", () => 100],
  "newest segment's tables": (dataDir) => [
    segments(dataDir, "").at(-1) ?? "",
    (bytes) => bytes.indexOf("CREATE TABLE log"),
  ],
  witness: () => ["witness", () => 12],
  "mark of the format": () => ["log.db", (bytes) => bytes.indexOf("CREATE TABLE")],
  "spare segment": () => ["spare.db", (bytes) => bytes.indexOf("CREATE TABLE")],
};

function flip(dataDir: string, [name, at]: Flip): void {
  const bytes = readFileSync(join(dataDir, name));
  let place = Math.floor(at(bytes));
  while (bytes[place] === 0) place++;
  bytes[place] = (bytes[place] ?? 0) ^ 4;
  writeFileSync(join(dataDir, name), bytes);
}

test.each(Object.keys(KINDS))(
  "a stopped follower with a flipped bit in its %s starts, and serves everything",
  async (kind) => {
    const members = await membersWithData();
    const follower = await followerOf(members);
    await follower.end("SIGTERM");
    const flipOf = KINDS[kind];
    if (flipOf !== undefined) flip(follower.dataDir, flipOf(follower.dataDir));
    follower.start();
    await level(members);
    const client = await clientOf([follower]);
    expect(await textOf(client, "/node-3")).toBe(`3 ${VALUE}`);
    expect(await textOf(client, "/node-199")).toBe(`199 ${VALUE}`);
    await client.create("/after", "");
    // It votes again: the leader is gone, and the two that are left have a quorum only with it.
    const leader = await level(members);
    await leader.end("SIGKILL");
    await level(members.filter((member) => member !== leader));
    expect(await textOf(client, "/after")).toBe("");
  },
);

test("a running server writes a damaged state file again, and its next start finds nothing wrong", async () => {
  const members = await membersWithData();
  const follower = await followerOf(members);
  const damaged = async (): Promise<number> => Number((await follower.monitor())["zooid_scrub_damaged_files"]);
  flip(follower.dataDir, ["state-1.db", (bytes) => bytes.indexOf("quota")]);
  await until("repair", () => follower.said("error").find((line) => line.includes("state-1.db")));
  await until("check of the new file", async () => ((await damaged()) === 0 ? true : undefined));
  await follower.end("SIGTERM");
  const errorCount = follower.said("error").length;
  follower.start();
  await level(members);
  expect(follower.said("error")).toHaveLength(errorCount);
  expect(await textOf(await clientOf([follower]), "/node-150")).toBe(`150 ${VALUE}`);
});
