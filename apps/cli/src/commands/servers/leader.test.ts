import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

// Transfers of an ensemble are in leader.slow.test.ts.

let admin: Server;
let asked: URL[];
beforeEach(async () => {
  asked = [];
  admin = createServer((request, response) => {
    asked.push(new URL(request.url ?? "", "http://admin"));
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ command: "transfer_leadership", error: null, leader_id: 7, successor_id: 7 }));
  });
  admin.listen(0, "127.0.0.1");
  await once(admin, "listening");
});
afterEach(() => {
  admin.close();
  admin.closeAllConnections();
});

test.each([
  ["transfer", {}, ["server 7 leads"]],
  ["transfer 3", { to: "3" }, ["server 7 leads"]],
  ["transfer --wait", {}, ["server 7 leads"]],
  ["transfer 3 --wait --timeout 60000", { to: "3" }, ["server 7 leads"]],
  ["transfer --dry-run", { dryRun: "true" }, ["another server can lead", "nothing is changed: --dry-run"]],
  ["transfer 3 --dry-run", { to: "3", dryRun: "true" }, ["server 3 can lead", "nothing is changed: --dry-run"]],
])("leader %s asks for that and for nothing else", async (words, query, lines) => {
  await using session = await Session.open("127.0.0.1:1");
  const { port } = admin.address() as AddressInfo;
  const run = await session.run("leader", ...words.split(" "), "--admin", `http://127.0.0.1:${port}`);
  expect([await run.ended, run.stderr]).toEqual([0, ""]);
  expect(run.stdout.trim().split("\n")).toEqual(lines);
  expect(asked.map(({ pathname, searchParams }) => [pathname, Object.fromEntries(searchParams)])).toEqual([
    ["/commands/transfer_leadership", query],
  ]);
});

test.each(["transfer x", "transfer 1234", "transfer 3 --timeout 5", "move 3"])(
  "leader %s is refused, and nothing is asked",
  async (words) => {
    await using session = await Session.open("127.0.0.1:1");
    const { port } = admin.address() as AddressInfo;
    const run = await session.run("leader", ...words.split(" "), "--admin", `http://127.0.0.1:${port}`);
    expect([await run.ended, asked]).toEqual([1, []]);
  },
);
