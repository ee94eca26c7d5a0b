/** Each command that asks a port, at each other service: an error that shows what came. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { FOREIGN_SERVICES, startForeignService } from "@zooid/wire/testing/foreign-services";
import { expect, onTestFinished, test } from "vitest";
import { CliRuns } from "./testing/cli-process.ts";

test.each(FOREIGN_SERVICES)("the port of $name is named with what it sends", async (service) => {
  const server = await startForeignService(service, onTestFinished);
  const runs = new CliRuns(() => server);
  const [words, status, admin, session] = await Promise.all([
    runs.run("4lw", "mntr"),
    runs.run("status"),
    runs.run("leader", "transfer", "--admin", `http://${server}`),
    runs.run("-timeout", "200", "ls", "/"),
  ]);
  const shown = service.name === "tls" ? "speaks TLS" : service.shown;
  expect(words).toMatchObject({ status: 1, stderr: expect.stringContaining(shown) });
  expect(status).toMatchObject({ status: 1, stdout: expect.stringContaining(shown) });
  expect(session).toMatchObject({ status: 1, stderr: expect.stringContaining(shown) });
  // The HTTP parser keeps the bytes from where it stopped: maybe without the first one.
  const shownByHttp = service.name === "http" ? "answers with status 400 and no body" : service.shown.slice(2);
  expect(admin).toMatchObject({ status: expect.any(Number), stderr: expect.stringContaining(shownByHttp) });
  expect(admin.status).not.toBe(0);
});

/** The answers of other services that speak HTTP, and JSON too. */
test.each([
  [200, "null"],
  [200, "[]"],
  [200, "5"],
  [200, '{"message":"welcome"}'],
  [404, '{"error":"not found"}'],
  [302, ""],
  [200, '"\u001b[2J"'],
])("status %d with %j is no answer of an admin port", async (code, body) => {
  const asked: (string | undefined)[] = [];
  const web = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(code, { Location: "/elsewhere" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(web, "listening");
  onTestFinished(() => void web.close());
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const { status, stderr, stdout } = await new CliRuns(() => "127.0.0.1:1").run("leader", "transfer", "--admin", url);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(`${url} is no admin port: it answers with status ${code} and `);
  expect(stderr).not.toContain("\u001b");
  expect(asked).toEqual(["/commands/transfer_leadership?"]);
});
