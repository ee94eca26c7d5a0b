import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { Progress, type ProgressMode } from "./progress.ts";

function progressOf(mode: ProgressMode): { readonly progress: Progress; written(): string } {
  const stream = new PassThrough();
  // Only writing is asked of it when it is not a terminal.
  const progress = new Progress({ mode, intervalMs: 10_000, stream: stream as unknown as WriteStream, job: "payload" });
  return { progress, written: () => String(stream.read() ?? "") };
}

const PHASE = { name: "creating", unit: "nodes", total: 200, expectedMs: undefined };

test("a phase is shown at its start, and its progress on request", () => {
  const { progress, written } = progressOf("lines");
  progress.begin(PHASE);
  expect(written()).toMatch(/^payload: phase 1, creating; 0 of 200 nodes; 0 %; .*; 0 errors\n$/);
  progress.advance(50, 2);
  progress.status();
  expect(written()).toMatch(/; 50 of 200 nodes; 25 %; .*left; 2 errors\n$/);
  progress.end();
});

test("what has no known end has no percentage", () => {
  const { progress, written } = progressOf("lines");
  progress.begin({ name: "removing", unit: "", total: undefined, expectedMs: undefined });
  expect(written()).toMatch(/^payload: phase 1, removing; 0:00 elapsed; 0 errors\n$/);
  progress.end();
});

test("programs get an object a line", () => {
  const { progress, written } = progressOf("json");
  progress.begin(PHASE);
  progress.say("stopping");
  const lines = written()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toEqual([
    expect.objectContaining({ job: "payload", phase: "creating", step: 1, done: 0, total: 200, percent: 0, errors: 0 }),
    { job: "payload", note: "stopping" },
  ]);
  progress.end();
});

test("quiet is quiet", () => {
  const { progress, written } = progressOf("none");
  progress.begin(PHASE);
  progress.say("x");
  progress.status();
  progress.end();
  expect(written()).toBe("");
});
