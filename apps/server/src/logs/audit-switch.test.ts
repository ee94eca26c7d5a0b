import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { ConfigError, startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditSwitch } from "./audit-switch.ts";

const LOG = { info: () => {}, warn: () => {}, error: () => {} };

let directory: string;
let server: ZooidServer;
let client: Client;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "zooid-audit-switch-"));
  server = await startServer({ port: 0 });
  client = await connect(server.connectString);
});
afterEach(async () => {
  await client.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

const file = (name: string): string => join(directory, name);
const operations = (name: string): readonly string[] =>
  readFileSync(file(name), "utf8")
    .split("\n")
    .flatMap((line) => /operation=(\S+)(?:\tznode=(\S+))?/.exec(line)?.slice(1, 3).filter(Boolean).join(" ") ?? []);

test("a switch moves the writes to another file, off and on again, and none is in two files or in none", async () => {
  const audit = new AuditSwitch(file("first"), LOG);
  audit.follow(server);
  await client.create("/a");
  audit.prepare(file("second")).apply();
  await client.create("/b");
  audit.prepare(undefined).apply();
  expect(audit.file).toBeUndefined();
  await client.create("/c");
  audit.prepare(file("first")).apply();
  await client.create("/d");
  await audit.stop();
  expect(operations("first")).toEqual(["serverStart", "create /a", "create /d", "serverStop"]);
  expect(operations("second")).toEqual(["create /b"]);
});

test("a file that is not used in the end gets nothing, and the one in use stays", async () => {
  const audit = new AuditSwitch(file("first"), LOG);
  audit.follow(server);
  audit.prepare(file("second")).drop();
  expect(() => audit.prepare(join(directory, "first", "below"))).toThrow(ConfigError);
  audit.prepare(file("first")).apply();
  await client.create("/a");
  await audit.stop();
  expect(operations("first")).toEqual(["serverStart", "create /a", "serverStop"]);
  expect(operations("second")).toEqual([]);
});

test("a check names what cannot be written, and makes nothing", async () => {
  const audit = new AuditSwitch(undefined, LOG);
  audit.check(undefined);
  audit.check(file("new"));
  audit.check(join(directory, "new", "deep", "audit"));
  expect(existsSync(file("new"))).toBe(false);
  writeFileSync(file("plain"), "");
  const cannot = "zooid.audit.file: the audit log cannot be written: ";
  expect(() => audit.check(directory)).toThrow(`${cannot}${directory} is a directory`);
  expect(() => audit.check(join(file("plain"), "audit"))).toThrow(cannot);
  await audit.stop();
});
