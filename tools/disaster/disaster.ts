/**
 * Runs each procedure of docs/disaster.md as it is written, on three machines of its own, after what it is for
 * has happened; then all data that can be kept must be there, on three members.
 *
 *     npm run tool -- disaster [--only "A majority is lost"] [--keep]
 *
 * It needs root on Linux, for namespaces with `ip` and `mount`; elsewhere it prints why it is skipped.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inOwnNamespaces } from "../faults/own-namespaces.ts";
import { ROOT } from "../pack/public-packages.ts";
import { Machines } from "./machines.ts";
import { type Procedure, proceduresIn, settingsIn } from "./procedures.ts";
import { configure, must, SITUATIONS, type Situation } from "./situations.ts";

const { values: options } = parseArgs({
  options: { only: { type: "string" }, keep: { type: "boolean", default: false } },
});
const MACHINES = ["zk-1", "zk-2", "zk-3"];
const ALL = MACHINES.map((machine) => `${machine}:2181`).join();
const TRIES = 60;

if (await inOwnNamespaces(["ip", "mount", "curl"])) process.exitCode = await main();

async function main(): Promise<number> {
  const page = readFileSync(join(ROOT, "docs/disaster.md"), "utf8");
  const procedures = proceduresIn(page).filter(({ title }) => options.only === undefined || title === options.only);
  if (procedures.length === 0) throw new Error(`docs/disaster.md has no procedure "${options.only}"`);
  let failedCount = 0;
  for (const procedure of procedures) {
    const beganMs = Date.now();
    const failure = await tryProcedure(procedure, settingsIn(page));
    const seconds = Math.round((Date.now() - beganMs) / 1000);
    console.log(`${procedure.title}: ${failure === undefined ? "as written" : `FAILED: ${failure}`} (${seconds} s)`);
    if (failure !== undefined) failedCount++;
  }
  console.log(`${procedures.length - failedCount} passed, ${failedCount} failed`);
  return failedCount === 0 ? 0 : 1;
}

async function tryProcedure(procedure: Procedure, settings: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "disaster-"));
  let isKept = options.keep;
  try {
    await using machines = new Machines(folder, MACHINES);
    try {
      await runProcedure(procedure, machines, { folder, settings });
      return undefined;
    } catch (error) {
      isKept = true;
      const logs = MACHINES.map((machine) => `--- ${machine}\n${machines.logTail(machine)}`).join("\n");
      return `${error instanceof Error ? error.message : String(error)}\n${logs}`;
    }
  } finally {
    if (isKept) console.log(`kept in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function runProcedure(
  { title, steps }: Procedure,
  machines: Machines,
  { folder, settings }: { readonly folder: string; readonly settings: string },
): Promise<void> {
  const situation = SITUATIONS[title];
  if (situation === undefined) throw new Error("there is no such situation");
  const [file, secret] = [join(folder, "zoo.cfg"), join(folder, "peer-secret")];
  writeFileSync(file, situation.settings?.(settings) ?? settings);
  spawnSync(join(ROOT, "node_modules/.bin/zooid-server"), ["init-secret", secret]);
  configure(machines, file, secret);
  for (const [i, machine] of MACHINES.entries())
    await must(machines, machine, `echo ${i + 1} > /var/lib/zookeeper/myid; systemctl start zookeeper`);
  await untilMembers(machines);
  await must(machines, "zk-1", `zooid-cli -server ${ALL} create /kept data`);
  // A quorum has acknowledged it, and any member may be the survivor.
  for (const machine of MACHINES) await must(machines, machine, `zooid-cli -server ${machine}:2181 sync /kept`);
  await situation.arrange(machines);
  for (const { machine, text } of steps) await must(machines, machine, text);
  await untilMembers(machines);
  await untilKept(machines, situation);
}

/** Until three voters serve, as `zooid-cli member list` sees them. */
async function untilMembers(machines: Machines): Promise<void> {
  const list = `zooid-cli --json -server ${ALL} member list`;
  const voter = /"role":"participant","weight":1,"group":null,"state":"(?:leader|follower)"/g;
  await until(machines, list, (output) => (output.match(voter) ?? []).length === MACHINES.length);
}

/** Until each member has the nodes that must be kept. */
async function untilKept(machines: Machines, { kept }: Situation): Promise<void> {
  for (const machine of MACHINES) {
    for (const [path, data] of Object.entries(kept)) {
      const get = `zooid-cli --json -server ${machine}:2181 get ${path}`;
      await until(machines, get, (output) => output.includes(`"data":${JSON.stringify(data)}`));
    }
  }
}

async function until(machines: Machines, command: string, isThere: (output: string) => boolean): Promise<void> {
  let last = "";
  for (let i = 0; i < TRIES; i++) {
    const { status, output } = await machines.run("zk-1", command);
    if (status === 0 && isThere(output)) return;
    last = output;
  }
  throw new Error(`${command} never printed what was expected, but: ${last}`);
}
