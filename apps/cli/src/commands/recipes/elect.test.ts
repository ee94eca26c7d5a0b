import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { CliProcesses } from "../../testing/cli-process.ts";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
const processes = new CliProcesses(() => server.connectString);
const start = processes.start.bind(processes);
beforeAll(async () => {
  server = await startServer({ port: 0, connectionsPerAddressMax: 0 });
});
afterEach(() => processes.kill());
afterAll(() => server.stop());

test("one program runs at a time, the next when that has ended; a look at the leader joins nothing", async () => {
  await using session = await Session.open(server.connectString, "json");
  const program = ["--", "sh", "-c", "echo leads; cat; exit 4"];
  const first = start("elect", "--id", "first", "/a", ...program);
  await first.shows("leads");
  const teller = session.start("elect", "--follow", "/a");
  await teller.shows('"first"');
  const second = start("elect", "--id", "second", "/a", ...program);
  first.child.stdin.end();
  expect(await first.ended).toEqual({ stdout: "leads\n", stderr: "", status: 4 });
  await teller.shows('"second"');
  expect((await session.run("elect", "/a")).objects).toMatchObject([
    { command: "elect", leader: { id: "second", path: expect.stringMatching(/^\/a\/_c_[-0-9a-f]+-latch-\d{10}$/) } },
  ]);
  expect((await session.run("getAllChildrenNumber", "/a")).objects).toMatchObject([{ count: 1 }]);
  teller.giveUp();
  expect(await teller.ended).toBe(0);
  second.child.stdin.end();
  expect((await second.ended).status).toBe(4);
  const events = teller.objects.filter(({ event, id }) => event === "leader" && id !== null);
  expect(events).toMatchObject([{ id: "first" }, { id: "second" }]);
});

test("without a program the leader is printed once, also where there is none", async () => {
  const { stdout, status } = await processes.run("elect", "/nobody");
  expect([stdout, status]).toEqual(["no leader\n", 0]);
});

test("--follow with a program is refused, since it runs none", async () => {
  await using session = await Session.open(server.connectString);
  const { ended, stderr } = await session.run("elect", "--follow", "/f", "--", "true");
  expect([await ended, stderr]).toEqual([
    1,
    expect.stringContaining("--follow prints the leaders, and runs no program"),
  ]);
});

test("a program whose leadership was lost is killed, and runs again with the next term", async () => {
  await using session = await Session.open(server.connectString);
  const leader = start("elect", "/b", "--", "sh", "-c", "echo $ZOOID_NODE; cat; echo survived");
  await leader.shows("/b/_c_");
  const node = leader.stdout.trim();
  leader.stdout = "";
  await session.run("delete", node);
  await leader.shows("it runs again with the next term");
  expect(leader.stderr).toContain(`${node} was lost while sh ran: deleted`);
  leader.stderr = "";
  await leader.shows("/b/_c_");
  expect(leader.stdout).not.toContain("survived");
  leader.child.kill("SIGTERM");
  expect((await leader.ended).status).toBe(130);
});
