import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, formatSessionId } from "@zooid/client";
import { freePort } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { eachInDirectory, start } from "../testing/server-process.ts";

// The console of the process itself: its page, its API, and its line in the log.

const directory = eachInDirectory();

const ADDRESS = /the console is at (http:[^"]*)console\//;

test("the server prints the console's address, serves its page, and answers for its own clients", async () => {
  const audit = join(directory(), "audit.log");
  const superuser = "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
  const settings = ["zooid.console.enabled=true", "audit.enable=true", `zooid.audit.file=${audit}`, superuser].flatMap(
    (each) => ["--set", each],
  );
  const server = start(...settings);
  const port = await server.ready();
  const [, url = ""] = await server.says(ADDRESS);
  const page = await fetch(`${url}console/`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await page.text()).toContain('<div id="app">');
  await using zk = await connect(`127.0.0.1:${port}`);
  await zk.create("/held", "", { mode: "ephemeral" });
  const answer = await fetch(`${url}api/v1/node`, {
    method: "POST",
    body: JSON.stringify({ path: "/made", data: { text: "by the console" } }),
    headers: { "Content-Type": "application/json" },
  });
  expect(answer.status).toBe(201);
  expect(await zk.getText("/made")).toBe("by the console");
  // cons and dump are not on the whitelist: the server asks itself.
  const { sessions, notes } = (await (await fetch(`${url}api/v1/sessions`)).json()) as {
    sessions: { ephemerals: string[] }[];
    notes: string[];
  };
  expect(notes).toEqual([]);
  expect(sessions.flatMap(({ ephemerals }) => ephemerals)).toEqual(["/held"]);
  expect((await fetch(`${url}commands/ruok`)).status).toBe(200);
  // The superuser ends a session, by the server's own admin port.
  await fetch(`${url}api/v1/audit?sid=0`);
  // The client has a new session as soon as it hears of the end.
  const session = formatSessionId(zk.sessionId);
  const ended = await fetch(`${url}api/v1/sessions/end`, {
    method: "POST",
    body: JSON.stringify({ id: session }),
    headers: { "Content-Type": "application/json", Authorization: "digest super:test" },
  });
  expect([ended.status, await ended.text()]).toEqual([200, expect.any(String)]);
  const { entries } = (await (await fetch(`${url}api/v1/audit?sid=0`)).json()) as { entries: { operation: string }[] };
  // The deletion of its ephemeral node may not be applied yet.
  expect(entries).toContainEqual(expect.objectContaining({ operation: "endSession", session }));
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(readFileSync(audit, "utf8")).toMatch(/ip=127\.0\.0\.1\toperation=create\tznode=\/made\t.*result=success/);
  expect(readFileSync(audit, "utf8")).toMatch(/user=.*\toperation=endSession\tresult=success/);
});

test("a console that is disabled has no address and no page", async () => {
  const server = start("--set", "zooid.console.enabled=false");
  await server.ready();
  const [, url = ""] = await server.says(/operators are answered on (http:[^"]*\/)commands/);
  expect((await fetch(`${url}console/`)).status).toBe(404);
  expect(server.output).not.toMatch(ADDRESS);
});

test("a server that follows an Apache ensemble has a console, in which every user is a viewer", async () => {
  const file = join(directory(), "follow.cfg");
  const follows = `dataDir=${join(directory(), "data")}\nzooid.follow=127.0.0.1:${await freePort()}\n`;
  writeFileSync(file, `${follows}admin.serverAddress=127.0.0.1\nadmin.serverPort=${await freePort()}\n`);
  const server = start("follow", file);
  const [, url = ""] = await server.says(ADDRESS);
  const session = await fetch(`${url}api/v1/session`);
  expect([session.status, await session.json()]).toMatchObject([200, { role: "viewer" }]);
  server.kill("SIGINT");
  expect(await server.ended()).toEqual([0, null]);
});
