import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesWith } from "@zooid/embedded-server/testing/files-with";
import { formatZxid } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  HOST,
  level,
  type MemberProcess,
  others,
  started,
  until,
} from "./testing/ensemble-processes.ts";

const directory = eachInDirectory();
const CANARY = "canary-of-a-value-that-is-purged";

interface PurgeAnswer {
  readonly error: string | null;
  readonly state?: string;
  readonly through?: string;
}

/** A moment of a purge, by what is to be seen of it in the data directory before and meanwhile. */
const MOMENTS: readonly ((before: readonly string[], now: readonly string[]) => boolean)[] = [
  () => true,
  (before, now) => now.some((name) => /log-\d{8}-[0-9a-f]{16}\.db$/.test(name) && !before.includes(name)),
  (before, now) => now.some((name) => /archive\/base\/[0-9a-f]{16}$/.test(name) && !before.includes(name)),
  (before, now) => before.some((name) => /archive\/log\/[0-9a-f]{16}-/.test(name) && !now.includes(name)),
  (before, now) => before.some((name) => /log-\d{8}-[0-9a-f]{16}\.db$/.test(name) && !now.includes(name)),
  (_before, now) => now.some((name) => /state-\d+\.db\.new$/.test(name)),
];

test("a purge of each member that is killed half way is finished by the repeated command", async () => {
  const ports = await freePorts(3);
  const members = await started(3, {
    settings: [
      "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
      "zooid.history.retainMs=3600000",
      "zooid.history.fileMs=200",
      "zooid.log.retainBytes=524288",
    ],
    own: (sid) => [`admin.serverAddress=${HOST}`, `admin.serverPort=${ports[sid - 1]}`],
  });
  const ask = async ({ sid }: MemberProcess, path: string, method: "GET" | "POST"): Promise<PurgeAnswer> => {
    const headers = { authorization: "digest super:test" };
    const response = await fetch(`http://${HOST}:${ports[sid - 1]}/commands/${path}`, { method, headers });
    return (await response.json()) as PurgeAnswer;
  };
  const filesOf = ({ dataDir }: MemberProcess): readonly string[] =>
    readdirSync(dataDir, { recursive: true, encoding: "utf8" });
  const leader = await level(members);
  const client = await clientOf([leader, ...others(members, leader)]);
  await client.create("/kept", "kept");
  for (let i = 0; i < 100; i++) await client.create(`/filled-${i}`, `${CANARY} ${i} `.repeat(200));
  for (let i = 0; i < 100; i++) await client.delete(`/filled-${i}`);
  const { mzxid } = await client.set("/kept", "kept 2");
  const through = formatZxid(mzxid);
  await until(
    "history of each",
    () => members.every((each) => filesWith(each.dataDir, CANARY).length > 1) || undefined,
  );
  for (const [i, hasCome] of MOMENTS.entries()) {
    const member = members[i % members.length] ?? expect.unreachable("there are three");
    const before = filesOf(member);
    expect(await ask(member, `purge_history?through=${through}`, "POST")).toMatchObject({ error: null, through });
    const isOver = async (): Promise<boolean> => (await ask(member, "purge_status", "GET")).state !== "running";
    // One that is quicker than the test looks is killed at its end.
    await until("moment", async () => hasCome(before, filesOf(member)) || (await isOver()) || undefined);
    await member.end("SIGKILL");
    member.start();
    await level(members);
    await client.connected();
    await client.set("/kept", `kept ${CANARY}`);
    await client.set("/kept", `kept ${i}`);
  }
  const { mzxid: last } = await client.set("/kept", "kept at last");
  await level(members);
  for (const member of members) {
    expect(await ask(member, `purge_history?through=${formatZxid(last)}`, "POST")).toMatchObject({ error: null });
    await until(
      "end of the purge",
      async () => (await ask(member, "purge_status", "GET")).state !== "running" || undefined,
    );
    expect(await ask(member, "purge_status", "GET")).toMatchObject({ state: "done", fault: null });
    expect(filesWith(member.dataDir, CANARY)).toEqual([]);
  }
  expect(filesWith(directory(), CANARY)).toEqual([]);
  for (const member of members) {
    await member.end("SIGTERM");
    member.start();
    await level(members);
  }
  await client.connected();
  expect(Buffer.from((await client.get("/kept")).data ?? []).toString()).toBe("kept at last");
  await client.create("/after", "");
  expect(members.every(({ dataDir }) => existsSync(join(dataDir, "archive")))).toBe(true);
});
