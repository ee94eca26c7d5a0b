/**
 * Flips bits in the files of a backup and of a server's archive, and removes files, one at a time:
 * each is named by the check, and none is restored in silence.
 *
 *     npm run tool -- archive-damage [--flips 20] [--removals 10] [--seed N] [--keep]
 *
 * A server writes a backup with a few bases and some dozen files of its log. Each damage hits the
 * backup or the server's archive in turn. The check of that place must name the file, or the
 * transactions that are missing. Then a state is restored, or exported for Apache ZooKeeper, at a
 * random zxid or time, or at the newest moment: it is refused by one sentence that names the file,
 * and nothing is left behind, or the tree is the one that the undamaged place gives. A file of the
 * log that the moment needs is always refused, and one that it does not need refuses nothing. A
 * node at that moment and all changes are printed from the archive, by the same rules.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@zooid/client";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { compareTrees, type RestoreTarget } from "@zooid/embedded-server";
import { formatZxid, type Zxid } from "@zooid/model";
import { type ApacheTree, ArchiveFile } from "@zooid/txn-log/sqlite";
import { TrialRun } from "../processes/trial-run.ts";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";
import { BackupAdmin } from "./backup-admin.ts";
import { ArchivePlace, BackupPlace, type KeptHistory, type PrintedLines, type RestoreOutcome } from "./kept-history.ts";

const options = toolOptions({ flips: 20, removals: 10, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 40 }, (_, i) => `/n${i}`);
const BASES = 4;
const MOMENTS = 6;
const WRITE_MS = 1200;
const WRITERS = 3;

/** The moment, or undefined for the newest one; and what the undamaged place has there. */
interface Moment {
  readonly at: RestoreTarget | undefined;
  readonly zxid: Zxid;
  readonly tree: ApacheTree;
  /** The same, of an export. */
  readonly exported: ApacheTree;
  /** A node of it, as the archive prints it. */
  readonly node: { readonly path: string; readonly text: string } | undefined;
  /** The file that has the next transaction: its time is looked at for a time. */
  readonly next: string | undefined;
  /** Names of the log's files that it is made from, and its base's folder. */
  readonly needed: readonly string[];
  readonly base: string;
}

const trial = new TrialRun("archive-damage", options);
const { random, folder, faults } = trial;
const table = new Map<string, number>();

const places = await makePlaces();
const moments = new Map<KeptHistory, readonly Moment[]>();
for (const place of places) moments.set(place, await momentsOf(place));
/** All changes of an archive, as they are printed. */
const changes = new Map<KeptHistory, readonly string[]>();
for (const place of places) if (place instanceof ArchivePlace) changes.set(place, place.changes().lines);
console.log(
  `seed ${options.seed}, ${places.map((place) => `${place.files().length} files in ${place.name}`).join(", ")}`,
);
for (let i = 0; i < options.flips + options.removals; i++) {
  const place = places[i % places.length];
  if (place !== undefined) await damage(place, i < options.flips ? "flip" : "removal");
}
for (const [row, count] of [...table].sort()) console.log(`${String(count).padStart(5)}  ${row}`);
trial.end("each damage is to be named, and none restored in silence");

async function makePlaces(): Promise<readonly KeptHistory[]> {
  const target = join(folder, "target");
  mkdirSync(target);
  const admin = await BackupAdmin.atFreePort();
  const settings = [
    "zooid.history.retainMs=86400000",
    "zooid.history.fileMs=200",
    ...[`zooid.backup.target=${target}`, "zooid.backup.baseEveryMs=86400000"],
    ...admin.settings,
  ];
  await using server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });
  await server.start();
  const answered = new AnsweredWrites(random, PATHS);
  const open = (): Promise<Client> => connectTo(server.port);
  {
    await using client = await open();
    for (const path of PATHS) await client.create(path, "");
  }
  for (let base = 0; base <= BASES; base++) {
    const load = await answered.load(WRITERS, open, () => delay(2));
    await delay(WRITE_MS);
    await load.end();
    if (base < BASES) await admin.untilComplete();
  }
  await untilUploaded(admin, answered.lastZxid);
  await server.stop();
  return [new BackupPlace(target), new ArchivePlace(join(server.dataDir, "archive"))];
}

/** The files behind the last base come with a later pass. */
async function untilUploaded(admin: BackupAdmin, last: Zxid): Promise<void> {
  while (Number((await admin.status())["end"]) < last) await delay(100);
}

async function momentsOf(place: KeptHistory): Promise<readonly Moment[]> {
  const ranges = place.logRanges();
  const zxids = Array.from({ length: MOMENTS }, () => {
    const { first, last } = random.pick(ranges);
    return { zxid: random.between(first, last) as Zxid };
  });
  const found: Moment[] = [];
  for (const at of [undefined, ...zxids, ...timesIn(place)]) {
    const [outcome, exported] = [await restored(place, at, "restore"), await restored(place, at, "export")];
    if (outcome.kind !== "restored") throw new Error(`undamaged, and refused: ${outcome.message}`);
    if (exported.kind !== "restored") throw new Error(`undamaged, and refused: ${exported.message}`);
    const { zxid } = outcome;
    const next = place.files().find((name) => name.startsWith("log/") && name.slice(4, 20) >= hexOf(zxid));
    found.push({ at, ...outcome, exported: exported.tree, next, node: nodeOf(place, { zxid }) });
  }
  return found;
}

/** Times at which transactions were written. */
function timesIn(place: KeptHistory): readonly { readonly timeMs: number }[] {
  return Array.from({ length: MOMENTS }, () => {
    const file = random.pick(place.files().filter((name) => name.startsWith("log/")));
    using opened = new ArchiveFile(join(place.folder, file));
    const { firstMs, lastMs } = opened.footer;
    return { timeMs: random.between(firstMs, lastMs) };
  });
}

function nodeOf(place: KeptHistory, at: RestoreTarget): Moment["node"] {
  if (!(place instanceof ArchivePlace)) return undefined;
  const path = random.pick(PATHS);
  return { path, text: textOf(place.node(path, at)) };
}

/** A node is named with its transaction. */
function textOf({ lines, refusal }: PrintedLines): string {
  return refusal ?? lines.join("\n");
}

function hexOf(zxid: Zxid): string {
  return zxid.toString(16).padStart(16, "0");
}

async function restored(
  place: KeptHistory,
  at: RestoreTarget | undefined,
  how: "restore" | "export",
): Promise<RestoreOutcome> {
  const dataDir = join(folder, "restored");
  const outcome = await place.restore(at, dataDir, how);
  if (outcome.kind === "refused" && existsSync(dataDir)) faults.push(`${dataDir} is left by a refused ${how}`);
  rmSync(dataDir, { recursive: true, force: true });
  return outcome;
}

async function damage(place: KeptHistory, kind: "flip" | "removal"): Promise<void> {
  const file = random.pick(place.files());
  const moment = random.pick(moments.get(place) ?? []);
  const path = join(place.folder, file);
  const what = kind === "flip" ? flip(path) : remove(path);
  const title = `${place.name}: ${file} ${what.text}`;
  try {
    const isNamed = (await place.check()).some((problem) => names(problem, file));
    if (!isNamed && (kind === "flip" || place.isMissed(file))) faults.push(`${title}: the check does not name it`);
    const how = random.pick(["restore", "export"] as const);
    const verdict = judge(file, moment, how, await restored(place, moment.at, how));
    if (verdict.isFault) faults.push(`${title}: ${how} at ${momentText(moment)}: ${verdict.text}`);
    if (place instanceof ArchivePlace) {
      for (const text of [judgeNode(place, file, moment), judgeChanges(place, file)])
        if (text !== undefined) faults.push(`${title}: ${momentText(moment)}: ${text}`);
    }
    const row = `${kind} in ${kindOf(file)} of ${place.name}: ${isNamed ? "named" : "cannot be seen"}; ${verdict.text}`;
    table.set(row, (table.get(row) ?? 0) + 1);
  } finally {
    what.undo();
  }
}

interface Damage {
  readonly text: string;
  undo(): void;
}

function flip(path: string): Damage {
  const bytes = readFileSync(path);
  const [at, bit] = [random.between(0, bytes.length - 1), random.between(0, 7)];
  const flipped = Buffer.from(bytes);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, flipped);
  return { text: `byte ${at} bit ${bit}`, undo: () => writeFileSync(path, bytes) };
}

function remove(path: string): Damage {
  const away = join(folder, "removed");
  renameSync(path, away);
  return { text: "removed", undo: () => renameSync(away, path) };
}

/** Whether a sentence is about a file, or about the transactions that it had. */
function names(sentence: string, file: string): boolean {
  const range = /^log\/([0-9a-f]{16})-([0-9a-f]{16})$/.exec(file);
  const zxids = range?.slice(1).map((text) => formatZxid(Number.parseInt(text, 16) as Zxid)) ?? [];
  const isRange = zxids.length > 0 && zxids.every((zxid) => new RegExp(`\\b${zxid}\\b`).test(sentence));
  // A base is named by its folder.
  return sentence.includes(file) || isRange || (file.startsWith("base/") && sentence.includes(file.slice(0, 21)));
}

function judge(
  file: string,
  moment: Moment,
  how: "restore" | "export",
  outcome: RestoreOutcome,
): { readonly text: string; readonly isFault: boolean } {
  const isNeeded = moment.needed.includes(file);
  if (outcome.kind === "refused") {
    if (!mayRefuse(file, moment)) return { text: `refused without need: ${outcome.message}`, isFault: true };
    const isSentence = outcome.message !== "" && !outcome.message.includes("\n");
    return isSentence
      ? { text: "refused", isFault: false }
      : { text: `refused by ${JSON.stringify(outcome.message)}`, isFault: true };
  }
  const lines: string[] = [];
  compareTrees([how === "restore" ? moment.tree : moment.exported, outcome.tree], false, (line) => lines.push(line));
  if (lines.length === 0) return { text: "the equal tree", isFault: isNeeded };
  const isShorter = moment.at === undefined && outcome.warnings.some((text) => names(text, file));
  if (isShorter) return { text: "an older state as the newest one, with a warning", isFault: false };
  return { text: `another tree: ${lines.length} nodes, such as ${lines[0]}`, isFault: true };
}

/** Whether a moment needs a file, or a time the one behind it. */
function mayRefuse(file: string, { at, base, needed, next }: Moment): boolean {
  const isLookedAt = at !== undefined && "timeMs" in at && file === next;
  return needed.includes(file) || file.startsWith(base) || isLookedAt;
}

function judgeNode(place: ArchivePlace, file: string, moment: Moment): string | undefined {
  const { at, node } = moment;
  if (at === undefined || node === undefined) return undefined;
  const found = place.node(node.path, at);
  if (textOf(found) === node.text) return undefined;
  if (found.refusal === undefined) return `another node: ${textOf(found)}, and not ${node.text}`;
  return mayRefuse(file, moment) ? undefined : `the node ${node.path} is refused without need: ${found.refusal}`;
}

/** All changes before a damaged file are printed, and all others where a file is missing. */
function judgeChanges(place: ArchivePlace, file: string): string | undefined {
  const whole = changes.get(place) ?? [];
  const { lines, refusal } = place.changes();
  const [after = "", end = ""] = /^log\/([0-9a-f]{16})-([0-9a-f]{16})$/.exec(file)?.slice(1) ?? [];
  if (refusal === undefined) {
    const isGone = !existsSync(join(place.folder, file));
    const isIn = (line: string): boolean => zxidIn(line) > after && zxidIn(line) <= end;
    const expected = isGone ? whole.filter((line) => !isIn(line)) : whole;
    return isEqual(lines, expected) ? undefined : `${lines.length} changes, and not ${expected.length}`;
  }
  if (after === "") return `changes are refused without need: ${refusal}`;
  if (!names(refusal, file)) return `changes are refused, and the file is not named: ${refusal}`;
  const before = whole.filter((line) => zxidIn(line) <= after);
  const isPrefix = isEqual(lines, whole.slice(0, lines.length)) && lines.length >= before.length;
  return isPrefix ? undefined : `${lines.length} changes before the damage, and there are ${before.length}`;
}

/** The zxid with which a line begins, in 16 digits. */
function zxidIn(line: string): string {
  return (/^0x([0-9a-f]+) /.exec(line)?.[1] ?? "").padStart(16, "0");
}

function isEqual(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, i) => line === others[i]);
}

function momentText({ at }: Moment): string {
  if (at === undefined) return "the newest moment";
  return "zxid" in at ? formatZxid(at.zxid) : new Date(at.timeMs).toISOString();
}

function kindOf(file: string): string {
  if (file.startsWith("log/")) return "log";
  return file.endsWith("manifest.json") ? "manifest" : "base";
}
