import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { ExitStatus } from "./process/exit-status.ts";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  HOST,
  leaderOf,
  level,
  type MemberProcess,
  textOf,
  until,
  voting,
} from "./testing/ensemble-processes.ts";

/** Without `reconfigEnabled`: operators edit lines `server.N` and restart servers. */

eachInDirectory();

const lineOf = ({ sid, quorumPort, electionPort }: MemberProcess): string =>
  `server.${sid}=${HOST}:${quorumPort}:${electionPort}`;

const listOf = (members: readonly MemberProcess[]): string => members.map(lineOf).join("\n");

let lists = 0;

/** Gives a server another list, and restarts it. */
async function edit(member: MemberProcess, list: readonly MemberProcess[]): Promise<void> {
  await member.end("SIGTERM");
  member.listServersIn(`list-${++lists}`, listOf(list));
  member.start();
  await until("server that serves", () => member.mode());
}

/** Servers 1, 2 and 3 run; server 4 lists itself as well, and runs not yet. */
async function threeAndOne(settings: readonly string[] = []): Promise<readonly MemberProcess[]> {
  const members = await ensemble(4, { settings, isListed: (sid, by) => sid <= 3 || by === 4 });
  for (const member of members.slice(0, 3)) member.start();
  await level(members.slice(0, 3));
  return members;
}

test("three servers become four and three again, and the one that leaves is shown as unlisted", async () => {
  const members = await threeAndOne();
  const [first, second, third, fourth] = members as [MemberProcess, MemberProcess, MemberProcess, MemberProcess];
  const client = await clientOf([first, second, third]);
  await client.create("/a", "1");
  fourth.start();
  expect(await until("server that serves", () => fourth.mode())).toBe("observer");
  const leader = await leaderOf(members);
  expect((await leader.monitor())["synced_non_voting_followers"]).toBe("1");
  for (const member of [first, second, third]) await edit(member, members);
  await voting(members);
  expect((await textOf(client, "/zookeeper/config")).match(/server\.4=\S+participant/)).not.toBeNull();
  await client.set("/a", "2");
  const rest = [first, second, third];
  for (const member of rest) await edit(member, rest);
  await voting(rest);
  await until("observer", async () => ((await fourth.mode()) === "observer" ? true : undefined));
  expect(await textOf(client, "/a")).toBe("2");
  await fourth.end("SIGTERM");
  await client.set("/a", "3");
});

test("ports that are all changed while the ensemble is stopped are those of the files, and the list in force follows", async () => {
  const members = await threeAndOne();
  const three = members.slice(0, 3);
  const client = await clientOf(three);
  await client.create("/a", "1");
  for (const member of three) await member.end("SIGTERM");
  const ports = await freePorts(6);
  const lines = three.map(({ sid }, i) => `server.${sid}=${HOST}:${ports[2 * i]}:${ports[2 * i + 1]}`);
  for (const member of three) member.listServersIn(`moved-${member.sid}`, lines.join("\n"));
  for (const member of three) member.start();
  await voting(three);
  const again = await clientOf(three);
  expect(await textOf(again, "/a")).toBe("1");
  await until("configuration with the new ports", async () => {
    const config = await textOf(again, "/zookeeper/config");
    return lines.every((line) => config.includes(line)) ? true : undefined;
  });
});

test("zooid.unlisted=refuse keeps a server out until the files of the others list it", async () => {
  const members = await threeAndOne(["zooid.unlisted=refuse"]);
  const [first, second, third, fourth] = members as [MemberProcess, MemberProcess, MemberProcess, MemberProcess];
  fourth.start();
  const refusal = /server 4 is not listed at server/;
  await until("refusal", () => (fourth.said("warn").some((line) => refusal.test(line)) ? true : undefined));
  expect(await fourth.mode()).toBeUndefined();
  for (const member of [first, second, third]) await edit(member, members);
  await voting(members);
});

test("a server whose file lists itself alone does not serve the data of three, nor disturbs them later", async () => {
  const members = await threeAndOne();
  const three = members.slice(0, 3);
  const [first, second, third] = three as [MemberProcess, MemberProcess, MemberProcess];
  await first.end("SIGTERM");
  first.listServersIn("alone", lineOf(first));
  first.start();
  expect(await first.ended()).toBe(ExitStatus.CONFIG);
  const writer = await clientOf([second, third]);
  await writer.create("/acknowledged", "");
  for (const member of [second, third]) await member.end("SIGKILL");
  first.listServersIn("three", listOf(three));
  for (const member of three) member.start();
  await level(three);
  for (const member of three) {
    const client = await clientOf([member]);
    expect(await client.exists("/acknowledged")).toBeDefined();
  }
  expect(first.output).toMatch(/an ensemble of servers 1, 2, 3 .* lists no others.* zooid-server recover/);
});
