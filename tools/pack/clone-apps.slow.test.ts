import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./public-packages.ts";

test.each(globSync("apps/*/bin/zooid-*.cjs", { cwd: ROOT }).sort())("%s runs in a clone", (bin) => {
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, bin), "--version"], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^zooid-\w+ \d/)]);
});
