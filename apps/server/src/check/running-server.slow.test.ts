import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ReportJson } from "@zooid/doctor";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { BIN, eachInDirectory, ServerProcess } from "../testing/server-process.ts";

const folder = eachInDirectory();
/** A user without rights, where this process may take one. */
const STRANGER = 54_321;
const isRoot = process.getuid?.() === 0;

async function checked(file: string, uid?: number): Promise<ReportJson> {
  const options = { cwd: tmpdir(), ...(uid === undefined ? {} : { uid, gid: uid }) };
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, "check", file, "--json"], options).catch(
    // Status 1 is that of findings.
    (error: { readonly stdout: string }) => error,
  );
  return JSON.parse(stdout) as ReportJson;
}

async function startServer(): Promise<{ readonly file: string; readonly server: ServerProcess }> {
  const [client, admin, quorum, election, observers] = await freePorts(5);
  const data = join(folder(), "data");
  mkdirSync(data);
  writeFileSync(join(data, "myid"), "1\n");
  const file = join(folder(), "zoo.cfg");
  const lines = [
    `dataDir=${data}`,
    `clientPort=${client}`,
    `admin.serverPort=${admin}`,
    "initLimit=10",
    "syncLimit=5",
    "standaloneEnabled=false",
    `server.1=127.0.0.1:${quorum}:${election}`,
    `observerMasterPort=${observers}`,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const server = new ServerProcess([file]);
  await server.ready();
  return { file, server };
}

const OF_START = /port|directory|configuration/;

test("a server that runs holds its own ports and directories, and stopped it holds none", async () => {
  const { file, server } = await startServer();
  expect((await checked(file)).findings.filter(({ id }) => OF_START.test(id))).toEqual([]);
  server.kill("SIGTERM");
  await server.ended();
  expect((await checked(file)).findings.filter(({ id }) => OF_START.test(id))).toEqual([]);
});

test("a user who cannot see the server's process is asked to check as the server's user", async () => {
  const { file } = await startServer();
  chmodSync(folder(), 0o755);
  const { findings, missing } = await checked(file, isRoot ? STRANGER : undefined);
  expect(findings.filter(({ id }) => OF_START.test(id))).toEqual([]);
  const hints = missing.filter((text) => text.includes("run the check as that user"));
  expect(hints).toHaveLength(isRoot ? 1 : 0);
  if (isRoot) expect(hints[0]).toMatch(/it seems to run as user 0,.*: sudo -u '#0' zooid-server check \S+zoo\.cfg$/);
});

test("ports that another server holds are findings while this one is stopped", async () => {
  const { file, server } = await startServer();
  server.kill("SIGTERM");
  await server.ended();
  const otherData = join(folder(), "other");
  mkdirSync(otherData);
  writeFileSync(join(otherData, "myid"), "1\n");
  const other = new ServerProcess([file, "--data", otherData]);
  await other.ready();
  const found = (await checked(file)).findings.filter(({ id }) => OF_START.test(id));
  expect(new Set(found.map(({ id }) => id))).toEqual(new Set(["port-taken", "optional-port-closed"]));
  expect(found.map(({ found: text }) => text)).toContainEqual(
    expect.stringMatching(/taken by zooid-server \(process \d+\)$/),
  );
});
