import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EventScript } from "./event-script.ts";

const FAR_MS = 3_600_000;

test("commands run at their times, and failures are reported; later ones are left out", async () => {
  const directory = mkdtempSync(join(tmpdir(), "zooid-bench-events-"));
  try {
    const file = join(directory, "said");
    const script = new EventScript([
      { atMs: 0, label: "good", command: `echo good >> "${file}"` },
      { atMs: 1, label: "bad", command: "exit 3" },
      { atMs: FAR_MS, label: "never", command: `echo never >> "${file}"` },
    ]);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    script.start();
    script.start();
    vi.advanceTimersByTime(1);
    const events = await script.stop();
    expect(events.map(({ label, failure }) => [label, failure])).toEqual([
      ["good", undefined],
      ["bad", "ended with status 3"],
    ]);
    for (const { atMs } of events) expect(atMs).toBeGreaterThanOrEqual(0);
    expect(readFileSync(file, "utf8")).toBe("good\n");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
