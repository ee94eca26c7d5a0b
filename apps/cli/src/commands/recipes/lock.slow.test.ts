import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { CliProcesses, CliRuns } from "../../testing/cli-process.ts";
import { objects, results } from "../../testing/transcript.ts";

// Programs under a lock, each held by a process of its own, on a server with real sockets.

let server: ZooidServer;
const processes = new CliProcesses(() => server.connectString);
const start = processes.start.bind(processes);
const run = processes.run.bind(processes);
// For processes without a program, or with a silent one.
const runs = new CliRuns(() => server.connectString);
const script = processes.script.bind(processes);
beforeAll(async () => {
  server = await startServer({ port: 0, connectionsPerAddressMax: 0 });
});
afterEach(() => processes.kill());
afterAll(() => server.stop());

test("a program runs under the lock, with nothing else on stdout, and its status is the command's", async () => {
  // Ends with its stdin.
  const held = start("lock", "/a", "--", "sh", "-c", "echo $ZOOID_NODE; cat; exit 7");
  await held.shows("/a/_c_");
  const late = await runs.run("lock", "--timeout", "0", "/a", "--", "true");
  expect([late.stdout, late.stderr, late.status]).toEqual(["", "/a is held by another client\n", 124]);
  held.child.stdin.end("typed\n");
  const { stdout, stderr, status } = await held.ended;
  expect([stdout, stderr, status]).toEqual([expect.stringMatching(/^\/a\/_c_[-0-9a-f]+-lock-\d{10}\ntyped\n$/), "", 7]);
});

test("each grant has a greater token, and a line's program does not take the lines behind it", async () => {
  const { stdout, status } = await script(["lock /b -- cat", "lock /b -- cat", "ls /b"], "--json");
  expect(status).toBe(0);
  const [first, second, listed] = objects(stdout).filter((object) => "command" in object);
  expect(Number(second?.["token"])).toBeGreaterThan(Number(first?.["token"]));
  expect(listed).toMatchObject({ children: [] });
});

test("shared holders hold it together, and exclude exclusive ones", async () => {
  const readers = [0, 1].map(() => start("lock", "--shared", "/c", "--", "sh", "-c", "echo reads; cat"));
  for (const reader of readers) await reader.shows("reads");
  expect((await runs.run("lock", "--timeout", "1", "/c", "--", "true")).status).toBe(124);
  for (const reader of readers) reader.child.stdin.end();
  for (const reader of readers) expect((await reader.ended).status).toBe(0);
  expect((await runs.run("lock", "/c", "--", "true")).status).toBe(0);
});

test("a program is killed, with what it has started, when its lock is lost", async () => {
  const held = start("lock", "/d", "--", "sh", "-c", "echo $ZOOID_NODE; cat; echo survived");
  await held.shows("/d/");
  await runs.run("delete", held.stdout.trim());
  const { stdout, stderr, status } = await held.ended;
  expect([stderr, status]).toEqual([expect.stringMatching(/^\/d\/_c_\S+ was lost while sh ran: deleted\n$/), 125]);
  expect(stdout).not.toContain("survived");
});

test("Ctrl-C terminates the program, and releases the lock after it has ended", async () => {
  // A program that the shell starts after the signal would not get it, and would be waited for:
  // none of them takes long.
  const program = "trap 'echo tidied up; exit' TERM; echo runs; while :; do sleep 0.1; done";
  const held = start("lock", "/e", "--", "sh", "-c", program);
  await held.shows("runs");
  held.child.kill("SIGINT");
  const { stdout, stderr, status } = await held.ended;
  // The shell may print the status of its jobs.
  expect([stdout, stderr, status]).toEqual(["runs\ntidied up\n", expect.stringMatching(/given up\n$/), 130]);
  expect((await runs.run("lock", "--timeout", "0", "/e", "--", "true")).status).toBe(0);
});

test("a program that cannot be run, or is ended by a signal, has a status of its own", async () => {
  const lines = ["lock /f -- /no/such/program", "lock /f -- /", "lock /f -- sh -c 'kill -9 $$'"];
  const { stdout } = await script(["printwatches off", ...lines], "--json");
  expect(objects(stdout).filter(({ command }) => command === "lock")).toMatchObject([
    { error: { code: "PROGRAM_MISSING" } },
    { error: { code: "PROGRAM_UNUSABLE" } },
    { status: 137 },
  ]);
  expect((await run("lock", "/f", "--", "sh", "-c", "kill -9 $$")).status).toBe(137);
});

test("with --json the program's output goes to stderr, and stdout has only the result", async () => {
  const { stdout, stderr, status } = await run("--json", "lock", "/g", "--", "sh", "-c", "echo said; exit 3");
  expect([stderr, status]).toEqual(["said\n", 3]);
  expect(objects(stdout)).toMatchObject([
    {
      command: "lock",
      path: "/g",
      status: 3,
      token: expect.stringMatching(/^\d+$/),
      node: expect.stringMatching(/^\/g\/_c_/),
    },
  ]);
});

test("without a program there is nothing to do", async () => {
  const { stdout, stderr, status } = await runs.run("lock", "/h");
  expect([results(stdout), stderr, status]).toEqual(["", expect.stringMatching(/^lock \[--timeout ms\]/), 1]);
});
