/**
 * Flips bits in closed data directories, and checks that each flip is named, healed or harmless.
 *
 *     npm run tool -- bit-flips [--flips 40] [--seed N] [--only INDEX] [--keep]
 *
 * Makes directories with a state, sealed segments, the newest segment, a spare, a witness and all
 * smaller files, one directory for each kind of last commit. For each flip a directory is copied
 * and one bit of one file changes; each kind of file gets its share. Then the store is opened as
 * the next start would open it, everything is read, more is written and checkpointed, and the store
 * is opened and read once more. Either a StoreError or a warning names the flipped file, or
 * everything is as it is without the flip. A flip in the witness must be named: nothing but its own
 * sum shows it.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { StoreError } from "@zooid/txn-log";
import type { Oracle } from "@zooid/txn-log/testing/state-oracle";
import {
  type Contents,
  LAST_COMMITS,
  type LastCommit,
  makeDirectory,
  open,
  type Reports,
  read,
  writeOn,
} from "./bit-flips/data-directory.ts";

const options = toolOptions({ flips: 40, seed: newSeed(), only: whole(undefined), keep: false });
/** A start that hangs is a fault, too. */
const FLIP_MS_MAX = 300_000;
const HISTORY_SEED = 11;
const WITNESS_FILE = "witness";

interface Original {
  readonly lastCommit: LastCommit;
  readonly directory: string;
  readonly files: ReadonlyMap<string, readonly string[]>;
  readonly makeOracle: () => Oracle;
  readonly contents: Contents;
  readonly contentsAfter: Contents;
}

interface Flip {
  readonly original: Original;
  readonly kind: string;
  readonly file: string;
  readonly at: number;
  readonly bit: number;
}

type Outcome =
  | { readonly kind: "named" | "warned" | "as before"; readonly detail: string }
  | { readonly kind: "WRONG"; readonly detail: string };

const folder = mkdtempSync(join(tmpdir(), "bit-flips-"));
const random = new Random(options.seed);
const originals: Original[] = [];
for (const lastCommit of LAST_COMMITS) originals.push(await makeOriginal(lastCommit));
const kinds = [...new Set(originals.flatMap(({ files }) => [...files.keys()]))].sort();
console.log(`seed ${options.seed}, ${kinds.length} kinds of files, in ${folder}`);
const table = new Map<string, number>();
let faultCount = 0;
for (let i = 0; i < options.flips; i++) {
  const flip = newFlip(i);
  if (options.only !== undefined && i !== options.only) continue;
  const outcome = await runFlip(`flip-${i}`, flip);
  const row = `${flip.kind.padEnd(24)} ${outcome.kind}${outcome.kind === "named" ? ` (${outcome.detail})` : ""}`;
  table.set(row, (table.get(row) ?? 0) + 1);
  if (outcome.kind !== "WRONG") continue;
  faultCount++;
  console.log(
    `flip ${i}: ${flip.file} byte ${flip.at} bit ${flip.bit}, last commit ${flip.original.lastCommit}: ${outcome.detail}`,
  );
}
for (const [row, count] of [...table].sort()) console.log(`${String(count).padStart(5)}  ${row}`);
if (faultCount === 0 && !options.keep) rmSync(folder, { recursive: true, force: true });
console.log(
  faultCount === 0 ? "every flip was named, healed or harmless" : `FAILED: ${faultCount} flips; data in ${folder}`,
);
process.exitCode = faultCount === 0 ? 0 : 1;

async function makeOriginal(lastCommit: LastCommit): Promise<Original> {
  const directory = join(folder, `original-${lastCommit}`);
  const oracle = await makeDirectory(directory, lastCommit, HISTORY_SEED);
  const files = new Map<string, string[]>();
  for (const name of readdirSync(directory)) {
    if (statSync(join(directory, name)).size === 0) continue;
    const kind = kindOf(name, directory);
    files.set(kind, [...(files.get(kind) ?? []), name]);
  }
  const scratch = join(folder, `scratch-${lastCommit}`);
  const ignore = (): void => {};
  // The same random steps give the same history behind each flip.
  const makeOracle = (): Oracle => oracle.copy();
  cpSync(directory, scratch, { recursive: true });
  const raise = (error: Error): void => {
    throw error;
  };
  let contents: Contents;
  {
    await using store = await open(scratch, { failed: raise, warned: ignore });
    contents = await read(store);
    await writeOn(store, makeOracle());
  }
  await using store = await open(scratch, { failed: raise, warned: ignore });
  const contentsAfter = await read(store);
  return { lastCommit, directory, files, makeOracle, contents, contentsAfter };
}

function kindOf(name: string, directory: string): string {
  const newest = readdirSync(directory)
    .filter((each) => /^log-\d{8}-[0-9a-f]{16}\.db$/.test(each))
    .sort()
    .at(-1);
  const suffix = /-(?:wal|shm|journal)$/.exec(name)?.[0] ?? "";
  if (name.startsWith("log-")) return `${name === `${newest}${suffix}` ? "newest" : "sealed"} segment${suffix}`;
  return name.replace(/\d+/, "#");
}

function newFlip(index: number): Flip {
  const original = random.pick(originals);
  const own = kinds.filter((kind) => original.files.has(kind));
  const kind = own[index % own.length] ?? "";
  const file = random.pick(original.files.get(kind) ?? []);
  const bytes = readFileSync(join(original.directory, file));
  // Most of a WAL may be zeros that were never written: half of the flips hit what was.
  const isWritten = random.between(0, 1) === 1;
  let at = random.between(0, bytes.length - 1);
  for (let tries = 0; isWritten && bytes[at] === 0 && tries < 10_000; tries++) at = random.between(0, bytes.length - 1);
  return { original, kind, file, at, bit: random.between(0, 7) };
}

async function runFlip(name: string, { original, file, at, bit }: Flip): Promise<Outcome> {
  const directory = join(folder, name);
  cpSync(original.directory, directory, { recursive: true });
  const path = join(directory, file);
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, bytes);
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(new Error(`it took more than ${FLIP_MS_MAX} ms`)), FLIP_MS_MAX);
  const outcome = await Promise.race([deadline.promise, lifeOf(directory, original, file)]).catch((error: unknown) => {
    return outcomeOf(error, file);
  });
  clearTimeout(timer);
  if (outcome.kind !== "WRONG") rmSync(directory, { recursive: true, force: true });
  return outcome;
}

async function lifeOf(directory: string, original: Original, file: string): Promise<Outcome> {
  const failures: Error[] = [];
  const warnings: string[] = [];
  const reports: Reports = {
    failed: (error) => void failures.push(error),
    warned: (text) => void warnings.push(text),
  };
  try {
    {
      await using store = await open(directory, reports);
      const difference = differenceOf(await read(store), original.contents);
      if (difference !== undefined) return { kind: "WRONG", detail: difference };
      await writeOn(store, original.makeOracle());
    }
    if (failures[0] !== undefined) throw failures[0];
    await using store = await open(directory, reports);
    const difference = differenceOf(await read(store), original.contentsAfter);
    if (difference !== undefined) return { kind: "WRONG", detail: `after more writes: ${difference}` };
  } catch (error) {
    // A damaged read gives no entries, and a warning with the place.
    const isDamaged = error instanceof Error && "code" in error && error.code === "damaged";
    if (isDamaged && warnings.some((text) => text.includes(baseOf(file)))) return { kind: "named", detail: "damaged" };
    throw failures[0] ?? error;
  }
  if (warnings.some((text) => text.includes(join(directory, file)))) return { kind: "warned", detail: "" };
  return file === WITNESS_FILE ? { kind: "WRONG", detail: "no warning names it" } : { kind: "as before", detail: "" };
}

function differenceOf(found: Contents, expected: Contents): string | undefined {
  for (const key of Object.keys(expected) as (keyof Contents)[]) {
    if (found[key] !== expected[key]) return `${key} is ${found[key]}, not ${expected[key]}`;
  }
  return undefined;
}

/** The file that a file is a part of. */
function baseOf(file: string): string {
  return file.replace(/-(?:wal|shm|journal)$/, "");
}

/** Damage must be named with the file that has it, or with the file that it is a part of. */
function outcomeOf(error: unknown, flipped: string): Outcome {
  if (!(error instanceof StoreError))
    return { kind: "WRONG", detail: `${error instanceof Error ? error.stack : String(error)}` };
  const { detail } = error;
  const isNamed = "file" in detail && detail.file.includes(baseOf(flipped));
  return isNamed
    ? { kind: "named", detail: detail.code }
    : { kind: "WRONG", detail: `${detail.code}: ${error.message}` };
}
