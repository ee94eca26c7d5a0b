import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FileWatch } from "./file-watch.ts";

let directory: string;
let certificate: string;
let other: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "file-watch-"));
  certificate = join(directory, "server.pem");
  other = join(directory, "server.log");
  writeFileSync(certificate, "first");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

/** The system reports changes of files in a later turn of the event loop. */
async function untilReported(): Promise<void> {
  const before = vi.getTimerCount();
  while (vi.getTimerCount() <= before) await nextTurn();
}

test("a change of a watched file is reported once, when it has settled", async () => {
  const changed = vi.fn();
  using _ = new FileWatch([certificate], changed);
  writeFileSync(certificate, "second");
  await untilReported();
  vi.advanceTimersByTime(199);
  expect(changed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(changed).toHaveBeenCalledTimes(1);
});

test("a change of another file of the directory is not reported", async () => {
  const changed = vi.fn();
  using _ = new FileWatch([certificate], changed);
  writeFileSync(other, "a line about the last reload");
  await untilReported();
  vi.advanceTimersByTime(10_000);
  expect(changed).not.toHaveBeenCalled();
});

test("a file written again with the same content is not reported", async () => {
  const changed = vi.fn();
  using _ = new FileWatch([certificate], changed);
  writeFileSync(certificate, "first");
  await untilReported();
  vi.advanceTimersByTime(10_000);
  expect(changed).not.toHaveBeenCalled();
});

test("a link that leads to another file is reported, as Kubernetes replaces secrets", async () => {
  const changed = vi.fn();
  const link = join(directory, "tls.pem");
  symlinkSync(certificate, link);
  using _ = new FileWatch([link], changed);
  const next = join(directory, "next.pem");
  writeFileSync(next, "second");
  symlinkSync(next, `${link}.new`);
  renameSync(`${link}.new`, link);
  await untilReported();
  vi.advanceTimersByTime(10_000);
  expect(changed).toHaveBeenCalledTimes(1);
});

test("other files that change all the time do not delay the report for more than two seconds", async () => {
  const changed = vi.fn();
  using _ = new FileWatch([certificate], changed);
  writeFileSync(certificate, "second");
  await untilReported();
  let elapsedMs = 0;
  while (changed.mock.calls.length === 0 && elapsedMs < 10_000) {
    writeFileSync(other, `${elapsedMs}`);
    // Until the system has reported it, so that every round restarts the 200 ms.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    vi.advanceTimersByTime(100);
    elapsedMs += 100;
  }
  expect(changed).toHaveBeenCalledTimes(1);
  expect(elapsedMs).toBeLessThanOrEqual(2000);
});
