/**
 * A recorded small history, and what is wrong with each disk that a power cut could leave of it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { membersInForce } from "./configuration-files.ts";
import { type CutState, type CutStatesOptions, cutStates, incompleteness, isCut } from "./cut-states.ts";
import { type DiskCalls, readDiskCalls } from "./disk-calls.ts";
import { brokenPromise, decodePromises, type Promises } from "./promises.ts";
import { recordingEnvironment } from "./recording-shim.ts";
import { CONFIGURATION, FILES_TRACK, type SmallHistory, storeDirectories } from "./small-histories.ts";
import { STORE_TRACK } from "./small-store.ts";
import { openOnDisk, startOnDisk } from "./start-on-disk.ts";

export interface RecordedHistory {
  readonly name: SmallHistory;
  readonly calls: DiskCalls;
  readonly promises: Promises;
}

/**
 * Runs a small history in a process of its own, with more in its environment, below an empty
 * folder.
 */
export async function recordSmallHistory(
  name: SmallHistory,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RecordedHistory> {
  const root = join(folder, "root");
  const record = join(folder, "record");
  const promises = join(folder, "promises");
  mkdirSync(root);
  const program = join(import.meta.dirname, "run-small-history.ts");
  const recording = recordingEnvironment({ root, log: record, syncDelayUs: 0 });
  const child = spawn(process.execPath, ["--conditions=@zooid/source", program, name, root, promises], {
    cwd: ROOT,
    env: { ...process.env, ...recording, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error(`the history ${name} ended with ${String(status)}`);
  const calls = readDiskCalls(record, root);
  const missing = incompleteness(calls);
  if (missing !== undefined) throw new Error(`the record of ${name} lacks a call: ${missing}`);
  return { name, calls, promises: decodePromises(readFileSync(promises, "utf8")) };
}

export interface CutCounts {
  /** Calls after which there was a cut. */
  cuts: number;
  /** Pairs of a cut and what was kept. */
  cases: number;
  /** Different disks among those, each of which was started. */
  disks: number;
}

export interface CutOptions extends Omit<CutStatesOptions, "from"> {
  /** Number of disks of which one starts a whole store, too. */
  readonly wholeEvery: number;
  /** Faults after which no more disks are tried. */
  readonly faultMax: number;
}

/** Starts every disk, in an empty folder. @returns the faults, a sentence each */
export async function tryCuts(
  { name, calls, promises }: RecordedHistory,
  folder: string,
  { wholeEvery, faultMax, ...which }: CutOptions,
): Promise<CutCounts & { readonly faults: readonly string[] }> {
  const counts: CutCounts = { cuts: 0, cases: 0, disks: 0 };
  const faults: string[] = [];
  const views = new Map<string, Views>();
  const options = { ...which, from: promises.from };
  counts.cuts = calls.list.filter((call, index) => isCut(call, index, options)).length;
  for (const state of cutStates(calls, options)) {
    counts.cases++;
    let found = views.get(state.key);
    if (found === undefined) {
      found = viewsOf(state, folder, { name, root: calls.root, promises });
      views.set(state.key, found);
      if (++counts.disks % wholeEvery === 0 && !("fault" in found))
        found = await checkWhole(state, folder, { name, views: found });
    }
    const fault = "fault" in found ? found.fault : brokenBy(found, state, promises);
    if (fault !== undefined) faults.push(`${state.description}: ${fault}`);
    if (faults.length >= faultMax) break;
  }
  return { ...counts, faults };
}

/** The views that a start shows of each track, or the reason why it is refused. */
type Views = { readonly fault: string } | { readonly tracks: readonly (readonly [track: string, view: string])[] };

function viewsOf(
  state: CutState,
  folder: string,
  { name, root, promises }: Pick<RecordedHistory, "name" | "promises"> & { readonly root: string },
): Views {
  mkdirSync(folder);
  try {
    state.write(folder);
    const tracks: [string, string][] = [[STORE_TRACK, startOnDisk(storeDirectories(folder, name), promises)]];
    const file = join(folder, CONFIGURATION, "zoo.cfg");
    const read = (name: string): string => readFileSync(name.replace(root, folder), "utf8");
    if (promises.steps.some(({ track }) => track === FILES_TRACK))
      tracks.push([FILES_TRACK, membersInForce(file, read)]);
    return { tracks };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function checkWhole(
  state: CutState,
  folder: string,
  { name, views }: Pick<RecordedHistory, "name"> & { readonly views: Views },
): Promise<Views> {
  mkdirSync(folder);
  try {
    state.write(folder);
    const whole = await openOnDisk(storeDirectories(folder, name));
    const alone = "tracks" in views ? views.tracks[0]?.[1] : undefined;
    return whole === alone ? views : { fault: `a whole store shows ${whole}, and its parts ${alone}` };
  } catch (error) {
    return { fault: `a whole store: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function brokenBy(views: Views, { until }: CutState, promises: Promises): string | undefined {
  if ("fault" in views) return views.fault;
  for (const [track, view] of views.tracks) {
    const broken = brokenPromise(promises, { track, view, until });
    if (broken !== undefined) return broken;
  }
  return undefined;
}
