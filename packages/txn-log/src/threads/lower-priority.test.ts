import { spawnSync } from "node:child_process";
import { getPriority } from "node:os";
import { expect, test } from "vitest";

const MODULE = new URL("lower-priority.ts", import.meta.url).href;

/** The niceness of a process of its own after it has asked for these, one after the other. */
function nicenessAfter(...asked: readonly number[]): string {
  const calls = asked.map((niceness) => `lowerPriority(${niceness});`).join("");
  const script = `import { getPriority } from "node:os"; import { lowerPriority } from ${JSON.stringify(MODULE)}; ${calls} console.log(getPriority(0));`;
  const options = ["--conditions=@zooid/source", "--no-warnings", "--input-type=module"];
  const { stdout, stderr } = spawnSync(process.execPath, [...options, "-e", script], { encoding: "utf8" });
  return stdout.trim() + stderr;
}

test("a thread's niceness is raised, and one that is higher already stays", () => {
  expect(nicenessAfter(19)).toBe("19");
  expect(nicenessAfter(19, 5)).toBe("19");
  expect(nicenessAfter(-20)).toBe(String(getPriority(0)));
});
