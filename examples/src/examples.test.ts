import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DIRECTORY, SAYS, testRun } from "./testing/runs.ts";

const SHARED = ["zookeeper.ts"];
const FILES = globSync("*.ts", { cwd: DIRECTORY })
  .filter((file) => !file.endsWith(".test.ts") && !SHARED.includes(file))
  .sort();

test("there is something to expect of each", () => {
  expect(FILES).toEqual(Object.keys(SAYS).sort());
});

test.each(FILES)("%s says on its first lines what it shows and how to run it", (file) => {
  expect(readFileSync(join(DIRECTORY, file), "utf8")).toMatch(
    new RegExp(`^/\\*\\*\\n \\* Shows [^]*npm run example examples/src/${file} `),
  );
});

// Each of them in `examples.slow.test.ts`.
testRun("config-center.ts");
testRun("queue.ts");
