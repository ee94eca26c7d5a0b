import { afterEach, expect, test } from "vitest";
import { type CliProcess, CliProcesses, CliRuns, type Ended } from "../../testing/cli-process.ts";
import { MovingPorts } from "../../testing/moving-ports.ts";

const cli = new CliRuns(() => "127.0.0.1:1");
const processes = new CliProcesses(() => "127.0.0.1:1");
const worlds: MovingPorts[] = [];
/** A busy machine takes longer than half of a timeout. */
const PATIENT = ["--within", "400000"];

afterEach(async () => {
  processes.kill();
  for (const moving of worlds.splice(0)) await moving[Symbol.asyncDispose]();
});

async function started(options: Parameters<typeof MovingPorts.start>[0] = {}): Promise<MovingPorts> {
  const moving = await MovingPorts.start({ shortestMs: 800_000, ...options });
  worlds.push(moving);
  return moving;
}

function takeOver(moving: MovingPorts, ...more: readonly string[]): Promise<Ended> {
  return cli.run("migrate", "take-over", ...moving.places, ...moving.commands, ...PATIENT, ...more);
}

function abort(moving: MovingPorts, ...more: readonly string[]): Promise<Ended> {
  return cli.run("migrate", "abort", ...moving.places, "--release", moving.command("release"), ...more);
}

test("a plan prints each step and what would run, and changes nothing", async () => {
  const moving = await started();
  const { status, stdout } = await takeOver(moving, "--plan");
  expect(status).toBe(0);
  for (const text of [
    "1. everything is level",
    "2. Apache's client ports are closed",
    "7. the members open",
    "way back: ",
  ])
    expect(stdout).toContain(text);
  expect(stdout).toContain(moving.command("fence"));
  expect(stdout).toMatch(/nothing is changed: --plan\nthe take-over could begin now\n$/);
  expect(moving.world.isAsBefore).toBe(true);
});

test("clients are taken over by the operator's commands, and a repeat has nothing to do", async () => {
  const moving = await started();
  const { status, stdout } = await takeOver(moving, "--yes");
  expect([status, moving.world.members.areOpen]).toEqual([0, true]);
  const address = moving.world.apache[0]?.address;
  expect(stdout).toContain(`  --block at ${address}: block of ${address}`);
  for (const text of [
    "way back: --release opens",
    "two SYNCs 200 ms apart",
    "the follower has ended at 0x",
    "clients are served, ",
  ])
    expect(stdout).toContain(text);
  const again = await takeOver(moving, "--yes");
  expect([again.status, again.stdout]).toEqual([0, expect.stringContaining("the clients were taken over before")]);
  const back = await abort(moving);
  expect([back.status, back.stderr]).toEqual([1, expect.stringContaining("serves clients already")]);
  expect(moving.world.members.areOpen).toBe(true);
});

test("a command that fails is named, and all is undone", async () => {
  const moving = await started();
  const failing = ["--fence", moving.command("fail")];
  const argv = [...moving.places, ...moving.commands.slice(0, 2), ...failing, ...moving.commands.slice(4), ...PATIENT];
  const within = argv.with(-1, "4000");
  const { status, stdout } = await cli.run("migrate", "take-over", ...within, "--yes");
  expect(stdout).toContain("ABORTED in step 5: ");
  expect(stdout).toMatch(/--fence at \S+: it has ended with status 7/);
  expect(stdout).toContain("not taken over: Apache serves its clients again");
  expect([status, moving.world.isAsBefore]).toEqual([1, true]);
});

test("an answer that is lost while the state is installed, or opened, is asked for", async () => {
  const installing = await started();
  installing.lost.add("take_over");
  const aborted = await takeOver(installing, "--yes");
  expect([aborted.status, installing.world.isAsBefore]).toEqual([1, true]);
  expect(aborted.stdout).toContain("the members have dropped the state");
  const opening = await started();
  opening.lost.add("open_clients");
  const { status } = await takeOver(opening, "--yes");
  expect([status, opening.world.members.areOpen]).toEqual([0, true]);
});

test("a process that is killed leaves both sides closed, and abort brings Apache back", async () => {
  const moving = await started();
  const killed = killedAt(moving, "4. Apache is kept from committing");
  expect(await killed).toBeNull();
  expect([moving.world.isServing, moving.world.members.areOpen]).toEqual([false, false]);
  const again = await takeOver(moving, "--yes", "--plan");
  expect([again.status, again.stdout]).toEqual([1, expect.stringContaining("zooid-cli migrate abort undoes that")]);
  const { status, stdout } = await abort(moving);
  expect([status, stdout]).toEqual([0, expect.stringContaining("Apache serves its clients again")]);
  expect(moving.world.isAsBefore).toBe(true);
});

async function killedAt(moving: MovingPorts, text: string): Promise<number | null> {
  const running: CliProcess = processes.start(
    "migrate",
    "take-over",
    ...moving.places,
    ...moving.commands,
    ...PATIENT,
    "--yes",
  );
  await running.shows(text);
  running.child.kill("SIGKILL");
  return (await running.ended).status;
}

test("an interruption undoes all, and without a terminal or --yes nothing begins", async () => {
  const moving = await started({ leak: 1 });
  const running = processes.start("migrate", "take-over", ...moving.places, ...moving.commands, ...PATIENT, "--yes");
  await running.shows("waiting: ");
  running.child.kill("SIGINT");
  const { status, stdout } = await running.ended;
  expect(stdout).toContain("ABORTED in step 3: ");
  expect([status, moving.world.isAsBefore]).toEqual([1, true]);
  const unasked = await takeOver(moving);
  expect([unasked.status, unasked.stdout]).toEqual([1, expect.stringContaining("--yes asks no question")]);
  expect(moving.world.isAsBefore).toBe(true);
});

test("results are objects for programs", async () => {
  const moving = await started();
  const refused = await cli.run(
    "--json",
    "migrate",
    "take-over",
    ...moving.places,
    ...moving.commands,
    "--within",
    "400001",
    "--yes",
  );
  expect([refused.status, JSON.parse(refused.stdout)]).toEqual([
    1,
    expect.objectContaining({
      result: "refused",
      step: "level",
      obstacles: [expect.objectContaining({ code: "timeout-too-short" })],
    }),
  ]);
  const taken = await takeOver(moving, "--yes");
  expect(taken.status).toBe(0);
});

test.each([
  [["take-over"], "--apache, --follower, --members, --block, --fence, --release are missing"],
  [["abort", "--apache", "a:1", "--follower", "http://a:1", "--members", "http://a:2"], "--release is missing"],
  [["take-over", "more"], "migrate take-over names servers by --apache, --follower and --members"],
  [["abort", "--fence", "x"], "--fence is for migrate take-over"],
])("what is missing or not understood is named: %o", async (argv, text) => {
  const { status, stderr } = await cli.run("migrate", ...argv);
  expect([status, stderr]).toEqual([1, expect.stringContaining(text)]);
});

test("ports that ask for credentials, and none are given, are named", async () => {
  const moving = await started();
  const places = moving.places.filter((_, i) => i !== 6 && i !== 7);
  const { status, stdout } = await cli.run("migrate", "take-over", ...places, ...moving.commands, "--yes");
  expect([status, stdout]).toEqual([1, expect.stringContaining("set ZOOID_ADMIN_AUTH, or give --admin-auth")]);
});
