/**
 * Flips bits in the files of a backup and of a server's archive, and removes files, one at a time:
 * each is named by the check, and none is restored in silence.
 *
 *     npm run tool -- archive-damage [--flips 20] [--removals 10] [--seed N] [--keep]
 *
 * A server writes a backup with a few bases and some dozen files of its log. Each damage hits the
 * backup or the server's archive in turn. The check of that place must name the file, or the
 * transactions that are missing. Then a state is restored at a random moment, or at the newest one:
 * it is refused by one sentence that names the file, and nothing is left behind, or the tree is the
 * one that the undamaged place gives. A file of the log that the moment needs is always refused.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { compareTrees } from "@zooid/embedded-server";
import { formatZxid, type Zxid } from "@zooid/model";
import type { ApacheTree } from "@zooid/txn-log/sqlite";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";
import { BackupAdmin } from "./backup-admin.ts";
import { ArchivePlace, BackupPlace, type KeptHistory, type RestoreOutcome } from "./kept-history.ts";

const options = toolOptions({ flips: 20, removals: 10, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 40 }, (_, i) => `/n${i}`);
const BASES = 4;
const MOMENTS = 6;
const WRITE_MS = 1200;
const WRITERS = 3;

/** The moment, or undefined for the newest one; and the undamaged tree there. */
interface Moment {
  readonly zxid: Zxid | undefined;
  readonly tree: ApacheTree;
  /** Names of the log's files that it is made from, and its base's folder. */
  readonly needed: readonly string[];
  readonly base: string;
}

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "archive-damage-"));
const faults: string[] = [];
const table = new Map<string, number>();

const places = await makePlaces();
const moments = new Map<KeptHistory, readonly Moment[]>();
for (const place of places) moments.set(place, await momentsOf(place));
console.log(
  `seed ${options.seed}, ${places.map((place) => `${place.files().length} files in ${place.name}`).join(", ")}`,
);
for (let i = 0; i < options.flips + options.removals; i++) {
  const place = places[i % places.length];
  if (place !== undefined) await damage(place, i < options.flips ? "flip" : "removal");
}
for (const [row, count] of [...table].sort()) console.log(`${String(count).padStart(5)}  ${row}`);
for (const fault of faults) console.log(fault);
if (options.keep || faults.length > 0) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(faults.length === 0 ? "each damage was named, and none restored in silence" : "FAILED");
process.exit(faults.length === 0 ? 0 : 1);

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
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => connectTo(server.port)));
  for (const path of PATHS) await clients[0]?.create(path, "");
  for (let base = 0; base <= BASES; base++) {
    const endMs = performance.now() + WRITE_MS;
    await Promise.all(
      clients.map((client) =>
        answered.write(
          client,
          () => performance.now() > endMs,
          () => delay(2),
        ),
      ),
    );
    if (base < BASES) await admin.untilComplete();
  }
  await Promise.all(clients.map((client) => client.close()));
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
    return random.between(first, last) as Zxid;
  });
  const found: Moment[] = [];
  for (const zxid of [undefined, ...zxids]) {
    const outcome = await restored(place, zxid);
    if (outcome.kind !== "restored") throw new Error(`undamaged, and refused: ${outcome.message}`);
    found.push({ zxid, ...outcome });
  }
  return found;
}

async function restored(place: KeptHistory, zxid: Zxid | undefined): Promise<RestoreOutcome> {
  const dataDir = join(folder, "restored");
  const outcome = await place.restore(zxid, dataDir);
  if (outcome.kind === "refused" && existsSync(dataDir)) faults.push(`${dataDir} is left by a refused restore`);
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
    const outcome = await restored(place, moment.zxid);
    const verdict = judge(file, moment, outcome);
    if (verdict.isFault) faults.push(`${title}: restored to ${momentText(moment)}: ${verdict.text}`);
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
  outcome: RestoreOutcome,
): { readonly text: string; readonly isFault: boolean } {
  const isNeeded = moment.needed.includes(file);
  if (outcome.kind === "refused") {
    if (!isNeeded && !file.startsWith(moment.base))
      return { text: `refused without need: ${outcome.message}`, isFault: true };
    const isSentence = outcome.message !== "" && !outcome.message.includes("\n");
    return isSentence
      ? { text: "refused", isFault: false }
      : { text: `refused by ${JSON.stringify(outcome.message)}`, isFault: true };
  }
  const lines: string[] = [];
  compareTrees([moment.tree, outcome.tree], false, (line) => lines.push(line));
  if (lines.length === 0) return { text: "the equal tree", isFault: isNeeded };
  const isShorter = moment.zxid === undefined && outcome.warnings.some((text) => names(text, file));
  if (isShorter) return { text: "an older state as the newest one, with a warning", isFault: false };
  return { text: `another tree: ${lines.length} nodes, such as ${lines[0]}`, isFault: true };
}

function momentText({ zxid }: Moment): string {
  return zxid === undefined ? "the newest moment" : formatZxid(zxid);
}

function kindOf(file: string): string {
  if (file.startsWith("log/")) return "log";
  return file.endsWith("manifest.json") ? "manifest" : "base";
}
