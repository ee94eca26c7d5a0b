/**
 * Lets single calls to the system fail, and checks that a store loses nothing it has reported.
 *
 *     npm run tool -- disk-errors [--points 24 | --calls FIRST-LAST] [--seed N] [--start] [--keep]
 *
 * A process appends to a store, checkpoints its state, begins segments and purges them, receives a
 * snapshot, installs histories with and without one, and cuts, with a shim in front of the C
 * library (LD_PRELOAD). Its calls that change files or names, and its syncs, are counted. Then the
 * process runs again for random calls of these, which fail: once with EIO, and in a row of 30 with
 * ENOSPC, as on a disk that has room again after a while. With --calls each of these calls fails in
 * turn, once with each error. With --start the process finds the store of one that was killed, and
 * calls of its start fail. Afterwards the store must open, hold every entry and promise that was
 * reported as durable, and replay. A full disk may end the process only where a sync has failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { openStore } from "@zooid/txn-log/sqlite";
import { compiledShim } from "./compiled-shim.ts";

const options = toolOptions({ points: whole(undefined), seed: newSeed(), calls: text, start: false, keep: false });
const ENOSPC_CALLS = 30;
const LIFE = join(import.meta.dirname, "disk-errors/life.ts");
const FINISHED = 0;
const STORE_FAILED = 20;
const NOT_OPENED = 21;

interface Point {
  readonly name: "EIO" | "ENOSPC";
  /** The call's number; 0: none fails. */
  readonly at: number;
}

interface Life {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
  readonly report: string;
}

const folder = mkdtempSync(join(tmpdir(), "disk-errors-"));
const shim = compiledShim("disk-errors-shim", join(import.meta.dirname, "disk-errors/shim.c"), "-ldl");
const random = new Random(options.seed);
/** The store that each start finds. */
let made: MadeStore | undefined;
if (options.start) made = await makeStore("made");
const counted = await live("count", { name: "EIO", at: 0 });
const callCount = Number(/^calls (\d+)$/m.exec(counted.report)?.[1] ?? 0);
if (counted.status !== FINISHED || callCount === 0) throw new Error(`the store does not work: ${counted.errors}`);
console.log(`seed ${options.seed}, ${callCount} calls, in ${folder}`);
const failedCalls = new Map<string, number>();
let faultCount = 0;
let missedCount = 0;
const points = options.calls === undefined ? randomPoints() : pointsOf(options.calls);
for (const [i, point] of points.entries()) faultCount += await runPoint(i, point);
for (const [call, count] of [...failedCalls].sort()) console.log(`${String(count).padStart(5)}  ${call}`);
// The number of calls varies by some from life to life.
if (missedCount > 0) console.log(`${missedCount} of ${points.length} points came after the last call: nothing failed`);
if (faultCount === 0 && !options.keep) rmSync(folder, { recursive: true, force: true });
console.log(faultCount === 0 ? "nothing reported was lost" : `FAILED: ${faultCount} faults; data in ${folder}`);
process.exitCode = faultCount === 0 ? 0 : 1;

function randomPoints(): readonly Point[] {
  return Array.from({ length: options.points ?? 24 }, (_, i) => ({
    name: i % 2 === 0 ? "EIO" : "ENOSPC",
    at: random.between(1, callCount),
  }));
}

function pointsOf(calls: string): readonly Point[] {
  if (options.points !== undefined) throw new Error("--points and --calls: expected one of them");
  const [first = 0, last = 0] = (/^(\d+)-(\d+)$/.exec(calls) ?? []).slice(1).map(Number);
  if (first < 1 || last < first || first > callCount) {
    throw new Error(`--calls ${calls}: expected FIRST-LAST, the numbers of two calls from 1 to ${callCount}`);
  }
  const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return numbers.flatMap((at): Point[] => [
    { name: "EIO", at },
    { name: "ENOSPC", at },
  ]);
}

async function runPoint(index: number, point: Point): Promise<number> {
  const name = `p${index}`;
  const life = await live(name, point);
  const failed = [...life.report.matchAll(/^failed (\S+) (\S+)$/gm)].map(([, call = "", file = ""]) => ({
    call,
    file,
  }));
  if (failed.length === 0) missedCount++;
  for (const { call, file } of failed) {
    const kind = `${point.name} ${call} ${file.replaceAll(/[0-9a-f]{8,}|\d+/g, "#")}`;
    failedCalls.set(kind, (failedCalls.get(kind) ?? 0) + 1);
  }
  const faults = [...statusFaults(point, life, failed), ...(await storeFaults(name, life))];
  for (const fault of faults) {
    console.log(`${point.name} at call ${point.at} (${failed[0]?.call ?? "none"} ${failed[0]?.file ?? ""}): ${fault}`);
  }
  if (faults.length === 0) rmSync(join(folder, name), { recursive: true, force: true });
  return faults.length;
}

function statusFaults(
  { name }: Point,
  { status, errors }: Life,
  failed: readonly { readonly call: string }[],
): string[] {
  if (status === FINISHED) return [];
  if (status !== STORE_FAILED && status !== NOT_OPENED) return [`it ended with ${status}: ${errors}`];
  const hasSyncFailed = failed.some(({ call }) => call === "fsync" || call === "fdatasync");
  return name === "ENOSPC" && !hasSyncFailed ? [`a full disk ended it: ${errors}`] : [];
}

/** Opens the store as the next start would. */
async function storeFaults(name: string, { output }: Life): Promise<string[]> {
  // A cut that has begun may lower the log's end, and one that is reported has.
  const [cutTo] = numbersBehind("cutting", output);
  const durable = cutTo ?? Math.max(made?.durable ?? 0, ...numbersBehind("durable", output));
  const [endMax = Number.POSITIVE_INFINITY] = numbersBehind("cut", output);
  const promised = Math.max(made?.promised ?? 0, ...numbersBehind("promised", output));
  const directory = join(folder, name, "data");
  if (!existsSync(directory)) return durable > 0 ? ["the data directory is gone"] : [];
  const ignore = (): void => {};
  try {
    await using store = await openStore({
      directory,
      sid: 1,
      handler: { appended: ignore, roomChanged: ignore, failed: ignore, warned: ignore },
    });
    const { tail, promise } = store.log.durable;
    const end = store.replay(store.loadState({ session: ignore, node: ignore }).applied, ignore);
    return [
      ...(tail.zxid < durable ? [`its log ends at ${tail.zxid}, and ${durable} was reported durable`] : []),
      ...(tail.zxid > endMax ? [`its log ends at ${tail.zxid}, and was cut to ${endMax}`] : []),
      ...(promise.epoch < promised ? [`it promised ${promised} and knows of ${promise.epoch}`] : []),
      ...(end.zxid === tail.zxid ? [] : [`it replays to ${end.zxid} of ${tail.zxid}`]),
    ];
  } catch (error) {
    return [`it does not open again: ${String(error)}`];
  }
}

function numbersBehind(word: string, output: string): number[] {
  return [...output.matchAll(new RegExp(`^${word} (\\d+)$`, "gm"))].map(([, number]) => Number(number));
}

interface MadeStore {
  readonly directory: string;
  readonly durable: number;
  readonly promised: number;
}

async function makeStore(name: string): Promise<MadeStore> {
  const { output, errors } = await live(name, { name: "EIO", at: 0 }, "killed");
  const [durable = 0] = numbersBehind("cut", output);
  if (durable === 0) throw new Error(`the store does not work: ${errors}`);
  return {
    directory: join(folder, name, "data"),
    durable,
    promised: Math.max(...numbersBehind("promised", output)),
  };
}

async function live(
  name: string,
  { name: error, at }: Point,
  deeds: "all" | "killed" | "start" = made === undefined ? "all" : "start",
): Promise<Life> {
  const place = join(folder, name);
  mkdirSync(place);
  const report = join(place, "report");
  const directory = join(place, "data");
  if (made !== undefined) cpSync(made.directory, directory, { recursive: true });
  const child = spawn(process.execPath, ["--conditions=@zooid/source", LIFE, directory, deeds], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      LD_PRELOAD: shim,
      FAIL_ROOT: directory,
      FAIL_AT: String(at),
      FAIL_COUNT: String(error === "EIO" ? 1 : ENOSPC_CALLS),
      FAIL_ERRNO: String(constants.errno[error]),
      FAIL_REPORT: report,
      UV_USE_IO_URING: "0",
    },
  });
  const [output, errors, [status]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, "close"),
  ]);
  return { status, output, errors: errors.trim(), report: readFileSync(report, "utf8") };
}
