import { expect, test } from "vitest";
import { Output } from "./output.ts";
import { Progress } from "./progress.ts";

test("a short walk prints nothing, a long one a line after 2 s and then every 10 s, on stderr", () => {
  let nowMs = 0;
  let [stdout, stderr] = ["", ""];
  const output = new Output({
    format: "json",
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
  });
  const progress = new Progress(output, "visited", () => nowMs);
  const steps = (seconds: number): void => {
    nowMs += seconds * 1000;
    progress.step("/a/b", 64);
  };
  steps(1.9);
  expect(stderr).toBe("");
  steps(0.1);
  expect(stderr).toBe("visited 128 nodes in 2 s, 64 a second: /a/b\n");
  steps(9.9);
  expect(stderr.split("\n")).toHaveLength(2);
  steps(0.1);
  expect(stderr.split("\n")).toHaveLength(3);
  expect(stdout).toBe("");
});
