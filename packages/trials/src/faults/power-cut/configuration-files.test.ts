import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, parseMembers } from "@zooid/model";
import { expect, test } from "vitest";
import { DynamicFile } from "zooid-server/internal/configuration/dynamic-file";
import { membersInForce } from "./configuration-files.ts";
import { type CutState, cutStates } from "./cut-states.ts";
import { brokenPromise, type Step } from "./promises.ts";
import { RecordedFiles } from "./recorded-files.ts";

const TRACK = "members";
/** More calls are never unsynced: every subset of them is kept. */
const RECENT_MAX = 12;

test("a power cut after any call of a reconfiguration leaves a zoo.cfg with the servers before it or after it", () => {
  const root = mkdtempSync(join(tmpdir(), "zooid-reconfiguration-"));
  try {
    const { calls, steps, from } = recordReconfigurations(root);
    const views = new Map<string, string>();
    const faults: string[] = [];
    let caseCount = 0;
    for (const state of cutStates(calls, { from, recentMax: RECENT_MAX })) {
      caseCount++;
      const view = views.get(state.key) ?? viewOf(state, root);
      views.set(state.key, view);
      const broken = brokenPromise({ steps }, { track: TRACK, view, until: state.until });
      if (broken !== undefined) faults.push(`${state.description}: ${broken}`);
    }
    expect(faults).toEqual([]);
    expect([caseCount, views.size]).toEqual([68, 17]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

/**
 * Two of them: the first moves the servers out of zoo.cfg, the second replaces the file that they
 * are in.
 */
function recordReconfigurations(root: string) {
  const file = join(root, "zoo.cfg");
  const files = new RecordedFiles(root);
  const steps: Step[] = [];
  const step = (work: () => void): void => {
    const askedAt = files.now;
    files.record(work);
    const view = membersInForce(file, (name) => readFileSync(name, "utf8"));
    steps.push({ track: TRACK, view, askedAt, promisedAt: files.now });
  };
  step(() => {
    writeSynced(file, "dataDir=data\nserver.1=h1:2888:3888;2181\n");
    syncFolder(root);
  });
  const from = files.now;
  const dynamicFile = new DynamicFile(file, 1);
  for (const count of [2, 3]) {
    const lines = Array.from({ length: count }, (_, i) => `server.${i + 1}=h${i + 1}:2888:3888;2181`);
    const members = { ...parseMembers(lines.join("\n")), version: composeZxid(1, count) };
    step(() => dynamicFile.write(members));
  }
  return { calls: files.calls, steps, from };
}

function viewOf(state: CutState, root: string): string {
  const read = (name: string): string => {
    const content = state.read(name.slice(root.length + 1));
    if (content === undefined) throw new Error(`${name} is not there`);
    return content.toString();
  };
  try {
    return membersInForce(join(root, "zoo.cfg"), read);
  } catch (error) {
    return `refused: ${String(error)}`;
  }
}

function writeSynced(file: string, text: string): void {
  const descriptor = openSync(file, "w");
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
