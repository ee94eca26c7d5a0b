import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  HOST,
  leaderOf,
  level,
  type MemberProcess,
  others,
  started,
  until,
} from "./testing/ensemble-processes.ts";

// A server that has served alone becomes the first of three.

eachInDirectory();

/** Three members, of which the first has data that it wrote alone. */
async function membersWithData(): Promise<readonly [MemberProcess, MemberProcess, MemberProcess]> {
  const [first, second, third] = await ensemble(3);
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
  {
    await using alone = await startServer({ port: 0, dataDir: first.dataDir });
    const client = await connect(alone.connectString);
    await client.create("/alone", "mine");
    await client.close();
  }
  return [first, second, third];
}

test("its data are those of the ensemble, whichever starts first", async () => {
  const members = await membersWithData();
  for (const member of members.toReversed()) member.start();
  expect(await level(members)).toBe(members[0]);
  for (const member of members) {
    const client = await clientOf([member]);
    expect(await client.getText("/alone")).toBe("mine");
  }
});

test("beside an ensemble without its data it keeps them, says so once, and founds another one when the others are emptied", async () => {
  const members = await membersWithData();
  const [first, ...late] = members;
  for (const member of late) member.start();
  await level(late);
  first.start();
  const said = (): readonly string[] =>
    first.said("error").filter((line) => line.includes("written by this server alone"));
  await until("refusal", () => (said().length > 0 ? true : undefined));
  const client = await clientOf(late);
  await client.create("/elsewhere", "");
  expect(said()).toHaveLength(1);
  for (const member of members) await member.end("SIGTERM");
  for (const { dataDir, sid } of others(members, first)) {
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "myid"), `${sid}\n`);
  }
  for (const member of members) member.start();
  expect(await level(members)).toBe(first);
  expect(await (await clientOf(late)).getText("/alone")).toBe("mine");
});

test("wiped members that have founded an ensemble without writes, and the one with the data, report each other", async () => {
  const members = await started(3);
  const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  const client = await clientOf(members);
  await client.create("/kept", "");
  await level(members);
  // A session of it would be a write to the wiped members' ensemble.
  await client.close();
  for (const member of members) await member.end("SIGTERM");
  const wiped = [first, second];
  for (const { dataDir, sid } of wiped) {
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "myid"), `${sid}\n`);
  }
  for (const member of wiped) member.start();
  const leader = await leaderOf(wiped);
  third.start();
  const reports = (member: MemberProcess): readonly string[] =>
    member.said("error").filter((line) => line.includes('see "A wrong founding" in docs/disaster.md'));
  for (const member of members) await until("report", () => (reports(member).length > 0 ? true : undefined));
  expect(reports(third).join("\n")).toContain(`server ${leader.sid}, which leads`);
  for (const member of members) expect(reports(member)).toHaveLength(1);
});

test("a copy of a member on another host is refused by name, and the member stays in service", async () => {
  const members = await ensemble(4, { isListed: (sid) => sid !== 4 });
  const [first, second, third, copy] = members as [MemberProcess, MemberProcess, MemberProcess, MemberProcess];
  const listed = [first, second, third];
  for (const member of listed) member.start();
  await level(listed);
  await third.end("SIGTERM");
  cpSync(third.dataDir, copy.dataDir, { recursive: true });
  const lineOf = (sid: number, { quorumPort, electionPort }: MemberProcess): string =>
    `server.${sid}=${HOST}:${quorumPort}:${electionPort}`;
  copy.listServersIn("copied", [lineOf(1, first), lineOf(2, second), lineOf(3, copy)].join("\n"));
  third.start();
  await level(listed);
  copy.start();
  const named = (member: MemberProcess): readonly string[] =>
    member.said("warn").filter((line) => line.includes("another server runs as server 3 already"));
  for (const member of [first, second, copy]) {
    await until("refusal", () => (named(member).length > 0 ? true : undefined));
  }
  const writer = await clientOf([third]);
  await writer.create("/at-the-member", "");
  expect(await third.mode()).toBeDefined();
  expect(await copy.mode()).toBeUndefined();
  // It is one line a minute.
  for (const member of [first, second]) expect(named(member)).toHaveLength(1);
  // Its next start is later than that of the member.
  await copy.end("SIGKILL");
  copy.start();
  await until("second refusal", () => (named(copy).some((line) => line.includes("start 3)")) ? true : undefined));
  await writer.create("/still-at-the-member", "");
  expect(await copy.mode()).toBeUndefined();
  await third.end("SIGKILL");
  await until("copy in service", async () => ((await copy.mode()) === undefined ? undefined : true));
});

test("a member with an old data directory stops the others only while its history is connected with theirs", async () => {
  const members = await started(3);
  const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  await level(members);
  await first.end("SIGTERM");
  const old = `${first.dataDir}-old`;
  cpSync(first.dataDir, old, { recursive: true });
  first.start();
  await level(members);
  await third.end("SIGKILL");
  await (await clientOf([first, second])).create("/of-first-and-second", "");
  for (const member of [first, second]) await member.end("SIGKILL");
  rmSync(first.dataDir, { recursive: true });
  cpSync(old, first.dataDir, { recursive: true });
  for (const member of [first, third]) member.start();
  await level([first, third]);
  await (await clientOf([first, third])).create("/of-first-and-third", "");
  second.start();
  const named = (member: MemberProcess): boolean =>
    member.said("error").some((line) => line.includes('"Histories that differ" in docs/disaster.md'));
  await until("report", () => (members.some(named) ? true : undefined));
  await second.end("SIGTERM");
  await level([first, third]);
  await (await clientOf([first, third])).create("/again", "");
  // Emptied, it joins them.
  rmSync(second.dataDir, { recursive: true });
  mkdirSync(second.dataDir);
  writeFileSync(join(second.dataDir, "myid"), `${second.sid}\n`);
  second.start();
  await level(members);
});
