/**
 * Runs each procedure of docs/disaster.md, and those of docs/operations.md that name machines, as
 * they are written, on machines of their own, after what they are for has happened; then all data
 * that can be kept must be there, on all members.
 *
 *     npm run tool -- disaster [--only "A majority is lost"] [--keep]
 *
 * It needs root on Linux, for namespaces with `ip` and `mount`; elsewhere it prints why it is
 * skipped.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inOwnNamespaces, run } from "../processes/own-namespaces.ts";
import { type MachineNames, Machines } from "./machines.ts";
import { DISASTER_PAGE, OPERATIONS_PAGE, type Procedure, proceduresIn, readPage, settingsIn } from "./procedures.ts";
import { must, SITUATIONS, type Situation, writeNumber } from "./situations.ts";

const options = toolOptions({ only: text, keep: false });
/** How long it may take until members or data are there after the last command of a procedure. */
const WAIT_MS_MAX = 120_000;
const PAUSE_MS = 300;

if (await inOwnNamespaces(["ip", "mount", "curl"])) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const settings = settingsIn(readPage(DISASTER_PAGE));
  const all = [DISASTER_PAGE, OPERATIONS_PAGE].flatMap((page) => proceduresIn(readPage(page)));
  const procedures = all.filter(({ title }) => options.only === undefined || title === options.only);
  if (procedures.length === 0)
    throw new Error(`there is no procedure "${options.only}", but: ${all.map(({ title }) => title).join("; ")}`);
  let failedCount = 0;
  for (const procedure of procedures) {
    const beganMs = performance.now();
    const failure = await tryProcedure(procedure, settings).catch(textOf);
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    console.log(`${procedure.title}: ${failure === undefined ? "as written" : `FAILED: ${failure}`} (${seconds} s)`);
    if (failure !== undefined) failedCount++;
  }
  console.log(`${procedures.length - failedCount} passed, ${failedCount} failed`);
  return failedCount === 0 ? 0 : 1;
}

/** @returns why it failed, with the ends of all logs */
async function tryProcedure(procedure: Procedure, settings: string): Promise<string | undefined> {
  const situation = SITUATIONS[procedure.title];
  if (situation === undefined) return "there is no such situation";
  const folder = mkdtempSync(join(tmpdir(), "disaster-"));
  let isKept = true;
  try {
    await using machines = await Machines.make(folder, situation.machines);
    try {
      await runProcedure(procedure, situation, machines, settings);
      isKept = options.keep;
      return undefined;
    } catch (error) {
      return [textOf(error), ...machines.names.map((machine) => machines.logTails(machine))].join("\n");
    }
  } finally {
    if (isKept) console.log(`kept in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function runProcedure(
  { steps }: Procedure,
  situation: Situation,
  machines: Machines,
  settings: string,
): Promise<void> {
  const { first, kept, members } = situation;
  for (const machine of machines.names)
    writeFileSync(machines.file(machine, "etc", "zoo.cfg"), situation.settings?.(settings, machine) ?? settings);
  writeSecret(machines);
  for (const machine of first) await must(machines, machine, `${writeNumber(machine)}; systemctl start zookeeper`);
  await must(machines, first[0], `zooid-cli -waitforconnection -server ${addresses(first)} create /kept data`);
  // A quorum has acknowledged it, and any member may be the survivor.
  for (const machine of first)
    await must(machines, machine, `zooid-cli -waitforconnection -server ${addresses([machine])} sync /kept`);
  await situation.arrange?.(machines, settings);
  for (const { machine, text } of steps) await must(machines, machine, text);
  await untilMembers(machines, members);
  for (const machine of members) await untilKept(machines, machine, kept);
}

/** All machines have the same secret for links between servers. */
function writeSecret(machines: Machines): void {
  const [first, ...others] = machines.names.map((machine) => machines.file(machine, "etc", "peer-secret"));
  if (first === undefined) return;
  run(join(ROOT, "node_modules/.bin/zooid-server"), "init-secret", first);
  for (const file of others) copyFileSync(first, file);
}

/** Until these and no others vote and serve, as `zooid-cli member list` sees them. */
async function untilMembers(machines: Machines, members: MachineNames): Promise<void> {
  const list = `zooid-cli --json -server ${addresses(members)} member list`;
  const voter = /"role":"participant","weight":1,"group":null,"state":"(?:leader|follower)"/g;
  await until(machines, members[0], list, (output) => (output.match(voter) ?? []).length === members.length);
}

/** Until a member has the nodes that must be kept. */
async function untilKept(machines: Machines, member: string, kept: Situation["kept"]): Promise<void> {
  for (const [path, data] of Object.entries(kept)) {
    const get = `zooid-cli --json -server ${addresses([member])} get ${path}`;
    await until(machines, member, get, (output) => output.includes(`"data":${JSON.stringify(data)}`));
  }
}

/** @throws Error with the last output when it takes too long */
async function until(
  machines: Machines,
  machine: string,
  command: string,
  isThere: (output: string) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const { status, output } = await machines.run(machine, command);
    if (status === 0 && isThere(output)) return;
    if (performance.now() > deadlineMs) throw new Error(`${command} never printed what was expected, but: ${output}`);
    await delay(PAUSE_MS);
  }
}

function addresses(machines: readonly string[]): string {
  return machines.map((machine) => `${machine}:2181`).join();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
