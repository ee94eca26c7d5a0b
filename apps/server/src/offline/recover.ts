import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AnsweringMember,
  answeringMembers,
  EPOCHS_SKIPPED,
  newestFirst,
  OfflineError,
  positionText,
  type Recovered,
  readSurvivor,
  recoverMember,
  recoveryProblems,
  type Survivor,
} from "@zooid/embedded-server";
import { counted, hostPort, type Member, memberLines } from "@zooid/model";
import type { RecoverCommand } from "./offline-command.ts";

/** Where a command prints. */
export interface Output {
  print(line: string): void;
  warn(line: string): void;
}

/**
 * `zooid-server recover`: says what a survivor holds and what going on alone means, or does it.
 *
 * @throws OfflineError with all reasons not to
 */
export async function recover(command: RecoverCommand, output: Output): Promise<void> {
  const { directories, isPlan, listed, member, confirmed } = command;
  const survivors = newestFirst(directories.map(readSurvivor));
  const [survivor] = survivors;
  if (survivor === undefined) throw new OfflineError(["no data directory is named"]);
  const known = joinedLists(survivor.members?.servers ?? [], listed);
  const answering = await answeringMembers(known);
  if (isPlan) {
    const impossible = recoveryProblems(survivor, { takesDamaged: true });
    const plan = { survivors, known, answering, member };
    for (const line of impossible.length === 0 ? planLines(plan) : survivors.flatMap(survivorLines)) output.print(line);
    if (impossible.length > 0) throw new OfflineError(impossible);
    return;
  }
  if (member === undefined) throw new OfflineError(["recover takes --as-member"]);
  const problems = [
    ...recoveryProblems(survivor, command),
    ...answering.map(
      ({ sid, address }) =>
        `server ${sid} of the old ensemble answers at ${address}: start that one and keep the ensemble, or stop it first`,
    ),
    ...confirmationProblems(survivor, confirmed),
  ];
  if (problems.length > 0) throw new OfflineError(problems);
  if (known.length === 0) output.warn(NOT_ASKED);
  const recovered = await recoverMember(survivor, { member, takesDamaged: command.takesDamaged, warn: output.warn });
  for (const line of recoveredLines(survivor, member, recovered)) output.print(line);
}

const NO_CLIENT_PORT =
  "the line names no port for clients, so that of zoo.cfg is used, and without one no client can come";

const NOT_ASKED =
  "the data does not list the members of the old ensemble, so none of them was asked whether it still runs; " +
  "name the zoo.cfg that lists them: zooid-server recover zoo.cfg --data DIR …";

function confirmationProblems({ ensembleId }: Survivor, confirmed: string | undefined): readonly string[] {
  if (confirmed === ensembleId || ensembleId === "") return [];
  const found = confirmed === undefined ? "" : `; found --confirm ${confirmed}`;
  return [
    `this ends the ensemble ${ensembleId}: --plan says what is lost, and --confirm ${ensembleId} says that you know${found}`,
  ];
}

/** Those in the data, and those of zoo.cfg that are not. */
export function joinedLists(kept: readonly Member[], listed: readonly Member[]): readonly Member[] {
  const keys = new Set(memberLines(kept));
  return [...kept, ...listed.filter((member) => !keys.has(memberLines([member]).join("\n")))];
}

interface Plan {
  /** The newest first. */
  readonly survivors: readonly Survivor[];
  readonly known: readonly Member[];
  readonly answering: readonly AnsweringMember[];
  readonly member: Member | undefined;
}

function planLines({ survivors, known, answering, member }: Plan): readonly string[] {
  const [newest] = survivors;
  if (newest === undefined) return [];
  const { directories, ensembleId, epochMax, sid } = newest;
  const others = known.filter((other) => other.sid !== (member?.sid ?? sid)).map((other) => String(other.sid));
  return [
    ...survivors.flatMap(survivorLines),
    ...(survivors.length > 1 ? [`newest: ${directories.dataDir}`] : []),
    ...(known.length === 0
      ? [NOT_ASKED]
      : answering.map(({ sid: other, address }) => `server ${other} answers at ${address}: it must be stopped before`)),
    `after a recovery of ${directories.dataDir}:`,
    `  server ${member?.sid ?? sid} is a new ensemble, alone${member === undefined ? "" : `, at ${memberLines([member]).join()}`}`,
    ...(member !== undefined && member.clientAddress === undefined ? [`  ${NO_CLIENT_PORT}`] : []),
    "  all that it logged is committed; its sessions continue, with their ephemeral nodes, and clients resume them",
    `  epochs begin at ${epochMax + EPOCHS_SKIPPED}, so that clients that saw later transactions are served; what those wrote is lost`,
    `  the other members${others.length === 0 ? "" : ` (${[...new Set(others)].join(", ")})`}, observers too, are kept out until their data directories are emptied`,
    `to do it, add ${newest.damage === undefined ? "" : "--force and "}--confirm ${ensembleId}, without --plan`,
  ];
}

function survivorLines(survivor: Survivor): readonly string[] {
  const { directories, sid, ensembleId, zxid, timeMs, committed, uncommittedCount, members, damage } = survivor;
  const ensemble = ensembleId === "" ? "no ensemble" : `ensemble ${ensembleId}`;
  const made = timeMs === undefined ? "" : `, made ${new Date(timeMs).toISOString()}`;
  const open = uncommittedCount === undefined ? "the transactions" : counted(uncommittedCount, "transaction");
  const places = members?.servers.map((each) => `${each.sid} at ${hostPort(each.host, each.quorumPort)}`);
  return [
    `${directories.dataDir}: server ${sid} of ${ensemble}`,
    `  last transaction: ${positionText(zxid)}${made}`,
    zxid === committed
      ? "  all of them are known to be committed"
      : `  ${open} after ${positionText(committed)} may never have been committed, and count as committed after a recovery`,
    ...(places === undefined ? [] : [`  members: ${places.join(", ")}`]),
    ...(damage === undefined ? [] : [`  damaged: ${damage}`]),
  ];
}

function recoveredLines({ directories }: Survivor, member: Member, recovered: Recovered): readonly string[] {
  const { sid } = member;
  const { ensembleId, epoch, nodeCount, sessionCount, zxid } = recovered;
  const [line = ""] = memberLines([member]);
  const steps = [
    `zoo.cfg of server ${sid}: ${line}, in place of all other lines server.N and of dynamicConfigFile, and reconfigEnabled=true, standaloneEnabled=false; without reconfigEnabled it stays as it is`,
    ...(member.clientAddress === undefined ? [`clientPort in zoo.cfg of server ${sid}: ${NO_CLIENT_PORT}`] : []),
    ...(numberIn(directories.dataDir) === sid ? [] : [`echo ${sid} > ${join(directories.dataDir, "myid")}`]),
    "start it; clients can come",
    "empty the data directories of the other members, and add them one by one: zooid-cli member add; without reconfigEnabled start them",
  ];
  return [
    `server ${sid} is the ensemble ${ensembleId}, alone: ${counted(nodeCount, "znode")} and ${counted(sessionCount, "session")} up to ${positionText(zxid)}; ` +
      `the next epoch is above ${epoch}`,
    "next (docs/disaster.md):",
    ...steps.map((step, i) => `  ${i + 1}. ${step}`),
  ];
}

function numberIn(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, "myid"), "utf8").trim());
  } catch {
    return undefined;
  }
}
