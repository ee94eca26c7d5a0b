import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@zooid/client";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { ExitStatus } from "../process/exit-status.ts";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  HOST,
  leaderOf,
  level,
  type MemberProcess,
  others,
  started,
  until,
  voting,
} from "../testing/ensemble-processes.ts";

// One member of three is left, and becomes a new ensemble.

const directory = eachInDirectory();
const BIN = fileURLToPath(new URL("../../bin/zooid-server.cjs", import.meta.url));
/** Bytes of log after which the state is brought forward. */
const CHECKPOINT_BYTES = 64 * 1024 * 1024;
const SETTINGS = ["reconfigEnabled=true", "skipACL=yes", "standaloneEnabled=false"];

function run(...argv: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(BIN, argv, { cwd: directory(), encoding: "utf8" });
  return { status, text: stdout + stderr };
}

const lineOf = ({ quorumPort, electionPort, port }: MemberProcess): string =>
  `${HOST}:${quorumPort}:${electionPort};${HOST}:${port}`;

function idOf({ dataDir }: MemberProcess): string {
  const { text } = run("recover", "--plan", "--data", dataDir);
  const id = /of ensemble (\S+)/.exec(text)?.[1];
  if (id === undefined) throw new Error(`the plan names no ensemble:\n${text}`);
  return id;
}

function wipe({ dataDir, sid }: MemberProcess): void {
  rmSync(dataDir, { recursive: true });
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "myid"), `${sid}\n`);
}

/** Adds a server with an empty disk, as `zooid-cli member add` does. */
async function joined(survivor: MemberProcess, joins: MemberProcess): Promise<void> {
  wipe(joins);
  const own = lineOf(joins).replace(";", ":observer;");
  joins.listServersIn(`join${joins.sid}`, `server.${survivor.sid}=${lineOf(survivor)}\nserver.${joins.sid}=${own}`);
  joins.start();
  await until("joiner", async () => ((await joins.mode()) === undefined ? undefined : true));
  const client = await clientOf([survivor]);
  await client.reconfig({ joining: [`server.${joins.sid}=${lineOf(joins)}`] });
}

/** Three members with data; all are killed. */
async function killed(settings: readonly string[] = SETTINGS): Promise<readonly MemberProcess[]> {
  const members = await started(3, { settings });
  const client = await clientOf(members);
  for (let i = 0; i < 20; i++) await client.create(`/node-${i}`, `${i}`);
  for (const member of members) await (await clientOf([member])).get("/", { sync: true });
  for (const member of members) await member.end("SIGKILL");
  return members;
}

test("a survivor continues alone with all data and sessions, and the others join it with empty disks", async () => {
  const members = await started(3, { settings: SETTINGS });
  const leader = await leaderOf(members);
  const [survivor] = others(members, leader) as [MemberProcess];
  const client = await clientOf(members, { sessionTimeoutMs: 40_000 });
  const { sessionId } = client;
  await client.create("/kept", "data");
  await client.create("/mine", "", { mode: "ephemeral" });
  // A quorum has them: the survivor, too.
  const reader = await clientOf([survivor]);
  await reader.get("/mine", { sync: true });
  for (const member of members) await member.end("SIGKILL");

  const id = idOf(survivor);
  const recovered = run(
    "recover",
    "--data",
    survivor.dataDir,
    "--as-member",
    `${survivor.sid}=${lineOf(survivor)}`,
    "--confirm",
    id,
  );
  expect(recovered.text).toContain(`server ${survivor.sid} is the ensemble `);
  expect(recovered.status).toBe(ExitStatus.OK);
  survivor.start();
  expect(await level([survivor])).toBe(survivor);
  // The client resumes its session, whose ephemeral node is its own still.
  await client.set("/kept", "more");
  expect(client.sessionId).toBe(sessionId);
  expect((await client.exists("/mine"))?.ephemeralOwner).toBe(sessionId);

  for (const joins of others(members, survivor)) await joined(survivor, joins);
  await level(members);
  for (const member of members) {
    const other = await clientOf([member]);
    expect(await other.getText("/kept", { sync: true })).toBe("more");
  }
  // The new ensemble continues without the member that survived.
  await survivor.end("SIGKILL");
  const rest = await clientOf(others(members, survivor));
  await rest.set("/kept", "most");
  // And it comes back from its files.
  survivor.start();
  await level(members);
});

test("a member with data of the old ensemble is kept out, and says why", async () => {
  const [first, second] = (await killed()) as [MemberProcess, MemberProcess];
  const id = idOf(first);
  expect(run("recover", "--data", first.dataDir, "--as-member", `1=${lineOf(first)}`, "--confirm", id).status).toBe(0);
  first.start();
  await level([first]);
  second.start();
  await until("refusal", () => second.said("warn").find((line) => line.includes("belongs to the ensemble")));
  expect(await second.mode()).toBeUndefined();
  expect(await first.mode()).toBe("leader");
});

test("nothing is changed without the old id, while an old member answers, or while the directory is in use", async () => {
  const members = await killed();
  const [first, second] = members as [MemberProcess, MemberProcess];
  const id = idOf(first);
  const recover = (...more: readonly string[]) =>
    run("recover", "--data", first.dataDir, "--as-member", `1=${lineOf(first)}`, ...more);
  const unconfirmed = recover();
  expect([unconfirmed.status, unconfirmed.text]).toEqual([
    ExitStatus.REFUSED,
    expect.stringContaining(`--confirm ${id}`),
  ]);
  expect(recover("--confirm", "other").status).toBe(ExitStatus.REFUSED);
  second.start();
  await until("member", async () => ((await second.word("ruok")) === "imok" ? true : undefined));
  const answered = recover("--confirm", id);
  expect([answered.status, answered.text]).toEqual([
    ExitStatus.REFUSED,
    expect.stringContaining("server 2 of the old ensemble answers at"),
  ]);
  first.start();
  await level([first, second]);
  const used = recover("--confirm", id);
  expect([used.status, used.text]).toEqual([ExitStatus.DATA_IN_USE, expect.stringContaining("is in use by process")]);
  expect(await first.end("SIGTERM")).toBe(0);
  expect(await second.end("SIGTERM")).toBe(0);
  // It is still a member of the old ensemble.
  for (const member of members) member.start();
  await level(members);
});

test("a plan names the newest directory, what may not be committed and the others, and changes nothing", async () => {
  const members = await started(3, { settings: SETTINGS });
  const leader = await leaderOf(members);
  const [away, stays] = others(members, leader) as [MemberProcess, MemberProcess];
  const client = await clientOf([leader]);
  await client.create("/a", "1");
  await away.end("SIGKILL");
  await client.create("/b", "1");
  for (const member of [leader, stays]) await member.end("SIGKILL");
  const content = (): readonly string[] =>
    readdirSync(stays.dataDir)
      .filter((name) => !name.startsWith("zooid."))
      .map((name) => {
        const { mtimeMs, size } = statSync(join(stays.dataDir, name));
        return name.endsWith("-shm") ? name : `${name} ${size} ${mtimeMs}`;
      });
  const before = content();
  const { status, text } = run("recover", "--plan", "--data", away.dataDir, "--data", stays.dataDir);
  expect(status).toBe(0);
  expect(text).toContain(`newest: ${stays.dataDir}`);
  expect(text).toMatch(/last transaction: 0x[0-9a-f]+ \(epoch \d+\), made 20\d\d-/);
  expect(text).toContain("its sessions continue");
  expect(text).toMatch(/members: 1 at .*, 2 at .*, 3 at /);
  const noPort = `${stays.sid}=${lineOf(stays).split(";")[0]}`;
  const named = run("recover", "--plan", "--data", stays.dataDir, "--as-member", noPort);
  expect(named.text).toContain("the line names no port for clients, so that of zoo.cfg is used");
  expect(content()).toEqual(before);
});

test("a member whose log has lost a part continues with the rest, only if it is forced to", async () => {
  const [first] = (await killed()) as [MemberProcess];
  const id = idOf(first);
  // The newest segment's WAL ends early: SQLite would take that for the end. A member that was
  // synchronized late may have an older one, which it has not removed yet.
  const wals = readdirSync(first.dataDir).filter((name) => /^log-\d+-[0-9a-f]+\.db-wal$/.test(name));
  const wal = wals.toSorted().at(-1) ?? "";
  truncateSync(join(first.dataDir, wal), 30_000);
  const recover = (...more: readonly string[]) =>
    run("recover", "--data", first.dataDir, "--as-member", `1=${lineOf(first)}`, "--confirm", id, ...more);
  const refused = recover();
  expect([refused.status, refused.text]).toEqual([ExitStatus.REFUSED, expect.stringContaining("--force")]);
  expect(recover("--force").status).toBe(0);
  first.start();
  await level([first]);
  const client = await clientOf([first]);
  expect(await client.getText("/node-0")).toBe("0");
});

test("a survivor continues alone though its file lists three, and the others vote once they have joined with empty disks", async () => {
  const members = await killed(["standaloneEnabled=false"]);
  const [first, survivor, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  const id = idOf(survivor);
  const config = join(directory(), "zoo2.cfg");
  const { status } = run("recover", config, "--as-member", `2=${lineOf(survivor)}`, "--confirm", id);
  expect(status).toBe(0);
  survivor.start();
  expect(await level([survivor])).toBe(survivor);
  const client = await clientOf([survivor]);
  expect(await client.getText("/node-19")).toBe("19");
  for (const joins of [first, third]) {
    wipe(joins);
    joins.start();
  }
  await voting(members);
  await survivor.end("SIGKILL");
  const rest = await clientOf([first, third]);
  await rest.set("/node-19", "20");
});

test("a survivor beside a member with an empty disk says that this one is not counted, and why", async () => {
  const adminPorts = await freePorts(3);
  const own = (sid: number): readonly string[] => [`admin.serverPort=${adminPorts[sid - 1]}`];
  const members = await started(3, { settings: SETTINGS, own });
  const [wiped, survivor] = members as [MemberProcess, MemberProcess];
  const client = await clientOf([survivor]);
  await client.create("/a", "1");
  await client.get("/a", { sync: true });
  for (const member of members) await member.end("SIGKILL");
  survivor.start();
  wipe(wiped);
  wiped.start();
  const config = join(directory(), "zoo2.cfg");
  const reason =
    /2 of 3 voters reachable; server 3 at .*server 1 is not counted: its data directory is empty, has lost data/;
  await until("reason", () => (reason.test(run("status", config).text) ? true : undefined));
});

test.each(["reconfigEnabled=true", "reconfigEnabled=false"])(
  "a copy as a member is refused while a server of the ensemble runs, with %s, and made once none does",
  async (setting) => {
    const history = ["zooid.history.retainMs=3600000", "zooid.history.fileMs=100"];
    const members = await started(3, { settings: [setting, "standaloneEnabled=false", ...history] });
    const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
    const client = await clientOf(members);
    await client.create("/kept", "data");
    await until("the history", () =>
      existsSync(join(first.dataDir, "archive/log")) && readdirSync(join(first.dataDir, "archive/log")).length > 0
        ? true
        : undefined,
    );
    const copy = join(directory(), "copy");
    const restore = (...more: readonly string[]) =>
      run("restore", "--from", first.dataDir, "--data", copy, "--as-member", `1=${lineOf(first)}`, ...more);
    const expectRefused = (reason: string): void => {
      const { status, text } = restore();
      expect([status, text]).toEqual([ExitStatus.REFUSED, expect.stringContaining(reason)]);
      expect(existsSync(copy)).toBe(false);
    };
    expectRefused(`${first.dataDir} is in use by process`);
    await first.end("SIGKILL");
    expectRefused(`server 2 of the ensemble`);
    const [, id = ""] = / --confirm (\S+) makes the copy/.exec(restore().text) ?? [];
    expect(restore("--confirm", "other").text).toContain(`the ensemble whose history it is, ${id}, found other`);
    expect(restore("--plan").text).toContain("server 3 of the ensemble");
    expect(restore("--confirm", id).status).toBe(ExitStatus.OK);
    rmSync(copy, { recursive: true });
    for (const member of [second, third]) await member.end("SIGKILL");
    expect(restore().status).toBe(ExitStatus.OK);
    // A backup that lies elsewhere has the history alone: zoo.cfg lists the members.
    const archive = join(directory(), "backup");
    cpSync(join(first.dataDir, "archive"), archive, { recursive: true });
    rmSync(copy, { recursive: true });
    second.start();
    third.start();
    await level([second, third]);
    const own = ["--data", copy, "--as-member", `1=${lineOf(first)}`];
    const listed = run("restore", join(directory(), "zoo1.cfg"), "--from", archive, ...own);
    expect([listed.status, listed.text]).toEqual([
      ExitStatus.REFUSED,
      expect.stringContaining("server 2 of the ensemble"),
    ]);
    const unlisted = run("restore", "--from", archive, ...own);
    expect([unlisted.status, unlisted.text]).toEqual([
      ExitStatus.OK,
      expect.stringContaining("none of them was asked"),
    ]);
  },
);

test("a snapshot of a stopped member has all that it logged, and leaves the member as it is", async () => {
  const members = await killed();
  const [first] = members as [MemberProcess];
  const file = join(directory(), "taken/snap");
  const { status, text } = run("snapshot", "--data", first.dataDir, "--out", file);
  expect([status, text]).toEqual([0, expect.stringContaining(`${file} has `)]);
  expect(readdirSync(join(directory(), "taken"))).toEqual(["snap"]);
  expect(run("snapshot", "--data", first.dataDir, "--out", file).text).toContain("not written over");
  for (const member of members) member.start();
  await level(members);
});

test("a state whose log is lost is recovered with --force, and the plan refuses one without anything left", async () => {
  const members = await started(3, { settings: SETTINGS });
  const [survivor, other] = members as [MemberProcess, MemberProcess, ...MemberProcess[]];
  const client = await clientOf(members);
  await client.create("/kept", "1");
  const data = "x".repeat(1_000_000);
  for (let bytes = 0; bytes < 1.1 * CHECKPOINT_BYTES; bytes += data.length) await client.set("/kept", data);
  for (const member of members) await (await clientOf([member])).get("/", { sync: true });
  for (const member of members) await member.end("SIGTERM");
  for (const { dataDir } of members) {
    for (const name of readdirSync(dataDir))
      if (/^(log|spare|stage|witness|disk-id)/.test(name)) rmSync(join(dataDir, name));
  }
  rmSync(join(other.dataDir, "state-1.db"));
  writeFileSync(join(other.dataDir, "witness"), "");
  for (const member of [survivor, other]) {
    const unstarted = run("recover", "--plan", "--data", member.dataDir);
    expect(unstarted.text).toContain("start the server once and stop it");
    member.start();
    await until("the line of a lost log", async () => (member.output.includes("log-lost") ? true : undefined));
    await member.end("SIGTERM");
  }
  const nothing = run("recover", "--plan", "--data", other.dataDir);
  expect([nothing.status, nothing.text]).toEqual([
    ExitStatus.REFUSED,
    expect.stringContaining("nothing of the ensemble is left"),
  ]);
  const command = ["recover", "--data", survivor.dataDir, "--as-member", `${survivor.sid}=${lineOf(survivor)}`];
  const plan = run(...command, "--plan");
  const [, id = ""] = /add --force and --confirm (\S+), without --plan/.exec(plan.text) ?? [];
  expect([plan.status, id]).toEqual([ExitStatus.OK, expect.stringMatching(/./)]);
  expect(run(...command, "--confirm", id).text).toContain("--force continues with what is whole");
  expect(run(...command, "--confirm", id, "--force").status).toBe(ExitStatus.OK);
  survivor.start();
  expect(await level([survivor])).toBe(survivor);
  expect(await (await clientOf([survivor])).getText("/kept")).toBe(data);
});

test("a directory without data, and one that served alone, are refused", async () => {
  const [one] = (await ensemble(1)) as [MemberProcess];
  const empty = run("recover", "--data", one.dataDir, "--as-member", `1=${lineOf(one)}`);
  expect([empty.status, empty.text]).toEqual([ExitStatus.REFUSED, expect.stringContaining("holds no log of a server")]);
  expect(readdirSync(one.dataDir)).toEqual(["myid"]);
  writeFileSync(join(one.dataDir, "state-1.db"), "");
  const other = run("recover", "--data", one.dataDir, "--as-member", `1=${lineOf(one)}`);
  expect([other.status, other.text]).toEqual([ExitStatus.REFUSED, expect.stringContaining("dataLogDir")]);
  rmSync(join(one.dataDir, "state-1.db"));
  one.start();
  const client = await connect(`${HOST}:${one.port}`, { startTimeoutMs: 30_000 });
  await client.create("/a", "1");
  await client.close();
  await one.end("SIGTERM");
  const alone = run("recover", "--data", one.dataDir, "--as-member", `1=${lineOf(one)}`);
  expect([alone.status, alone.text]).toEqual([
    ExitStatus.REFUSED,
    expect.stringContaining("was never one of an ensemble"),
  ]);
});
