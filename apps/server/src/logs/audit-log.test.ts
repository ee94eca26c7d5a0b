import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { ConfigError, startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditLog, type AuditLogOptions } from "./audit-log.ts";

let directory = "";
let file = "";
let server: ZooidServer;
let client: Client;
const said: string[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "zooid-audit-"));
  file = join(directory, "logs", "audit.log");
  server = await startServer({ port: 0 });
  client = await connect(server.connectString);
  said.length = 0;
});
afterEach(async () => {
  await client.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

function follow(options: Partial<AuditLogOptions> = {}): AuditLog {
  const note = (text: string): void => {
    said.push(text);
  };
  const audit = new AuditLog({ file, log: { info: note, warn: note, error: note }, ...options });
  audit.started();
  audit.follow(server);
  return audit;
}

function stop(audit: AuditLog): Promise<void> {
  audit.stopping();
  return audit.close();
}

/** Everything that was written, the oldest line first. */
function lines(): string[] {
  const names = readdirSync(join(directory, "logs"));
  const age = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
  const texts = names
    .toSorted((a, b) => age(b) - age(a))
    .map((name) => readFileSync(join(directory, "logs", name), "utf8"));
  return texts.join("").trimEnd().split("\n");
}

test("everything that was answered is in the file once the log has stopped, from start to stop, and only its group can read it", async () => {
  const audit = follow();
  await Promise.all(Array.from({ length: 500 }, (_, i) => client.create(`/n${i}`)));
  await stop(audit);
  expect(lines().map((line) => /operation=(\S+)(?:\tznode=(\S+))?/.exec(line)?.slice(1, 3).join(" "))).toEqual([
    "serverStart ",
    ...Array.from({ length: 500 }, (_, i) => `create /n${i}`),
    "serverStop ",
  ]);
  expect(statSync(file).mode & 0o007).toBe(0);
  expect(said).toEqual([]);
});

test("a file that is there is continued, and set aside when it is full; ten are kept, and no line is cut or lost between them", async () => {
  const audit = follow({ fileBytesMax: 2000 });
  for (let i = 0; i < 60; i++) await client.create(`/n${i}`);
  await stop(audit);
  const found = lines();
  expect(found).toHaveLength(62);
  expect(found.every((line) => /result=\w+$/.test(line))).toBe(true);
  const again = new AuditLog({ file, log: { info() {}, warn() {}, error() {} }, fileBytesMax: 2000 });
  again.follow(server);
  let count = 0;
  const write = () => client.create(`/m${count++}`);
  // A file is set aside once the one after the last is open, however long that takes.
  while (!existsSync(`${file}.10`)) await write();
  const { ino } = statSync(`${file}.10`);
  while (statSync(`${file}.10`, { throwIfNoEntry: false })?.ino === ino) await write();
  await stop(again);
  expect(readdirSync(join(directory, "logs"))).toHaveLength(11);
  expect(existsSync(`${file}.11`)).toBe(false);
});

test("a disk that cannot take the lines delays no answer, and is reported once in the server's own log", async () => {
  const audit = new AuditLog({
    file: "/dev/full",
    log: { info() {}, warn() {}, error: (text) => void said.push(text) },
    waitingBytesMax: 1000,
  });
  audit.follow(server);
  await Promise.all(Array.from({ length: 100 }, (_, i) => client.create(`/n${i}`)));
  expect((await client.children("/")).names).toHaveLength(101);
  while (said.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await client.create("/more");
  await stop(audit);
  expect(said).toEqual([expect.stringContaining("the audit log /dev/full: ")]);
});

test("a file that cannot be written stops the start", () => {
  writeFileSync(join(directory, "logs"), "");
  expect(() => follow()).toThrow(ConfigError);
});
