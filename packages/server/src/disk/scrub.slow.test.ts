import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create as createNode, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { startRemedyOf } from "./scrub-reports.ts";

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-scrub-"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

function damage(file: string): void {
  const handle = openSync(file, "r+");
  writeSync(handle, "p", readFileSync(file).indexOf("quota"));
  closeSync(handle);
}

async function metric(port: number, name: string): Promise<number> {
  await using client = await RawClient.open(port);
  client.send(Buffer.from("mntr"));
  return Number(new RegExp(`^zk_${name}\\t(.*)$`, "m").exec((await client.rest()).toString())?.[1]);
}

test("a start that finds a damaged row is refused with its place and what to do, and changes nothing", async () => {
  {
    await using _zk = await startTestServer({ dataDir: place });
  }
  const file = join(place, "state-1.db");
  const whole = readFileSync(file);
  damage(file);
  const detail = { code: "DAMAGED", file, hint: startRemedyOf(true, [place]) };
  await expect(startTestServer({ dataDir: place })).rejects.toMatchObject({ detail });
  writeFileSync(file, whole);
  await using zk = await startTestServer({ dataDir: place });
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.GET_DATA, read("/zookeeper"))).toMatchObject({ code: 0 });
});

test("a damaged state file is rewritten from memory, and the next start loads it", async () => {
  const file = join(place, "state-1.db");
  {
    await using zk = await startTestServer({ dataDir: place, fourLetterWords: "*", scrub: { everyMs: 1 } });
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.CREATE, createNode("/a", "data"))).toMatchObject({ code: 0 });
    while ((await metric(zk.port, "zooid_scrub_rounds_total")) < 1);
    damage(file);
    const lines = (): string[] => zk.lines.filter((line) => line.includes(file));
    while ((await metric(zk.port, "zooid_scrub_damaged_files")) > 0 || lines().length < 2);
    // The damage, and that the file is whole again.
    expect(lines()).toHaveLength(2);
  }
  await using zk = await startTestServer({ dataDir: place });
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.GET_DATA, read("/a"))).toMatchObject({ code: 0 });
});

test("without healing, a damaged state file is logged once with what to do, counted and shown, while clients are served", async () => {
  const admin = { port: 0, host: "127.0.0.1" };
  const options = { dataDir: place, fourLetterWords: "*", scrub: { everyMs: 1 }, healDamage: false };
  await using zk = await startTestServer({ ...options, admin });
  const file = join(place, "state-1.db");
  while ((await metric(zk.port, "zooid_scrub_rounds_total")) < 1);
  expect(await metric(zk.port, "zooid_scrub_damaged_files")).toBe(0);
  damage(file);
  while ((await metric(zk.port, "zooid_scrub_damaged_files")) < 1);
  const rounds = await metric(zk.port, "zooid_scrub_rounds_total");
  while ((await metric(zk.port, "zooid_scrub_rounds_total")) < rounds + 2);
  expect(zk.lines.filter((line) => line.includes(file))).toHaveLength(1);
  const answer = await fetch(`http://127.0.0.1:${zk.adminPort}/healthz`);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("[-]data failed");
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.GET_DATA, read("/zookeeper"))).toMatchObject({ code: 0 });
});
