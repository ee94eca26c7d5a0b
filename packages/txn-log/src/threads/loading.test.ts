import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

test("a process that exits waits for its threads to have loaded SQLite", () => {
  using place = new TemporaryDirectory();
  const program = join(import.meta.dirname, "../testing/exit-while-loading.ts");
  const args = ["--conditions=@zooid/source", program, join(place.path, "data")];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 20, stdout: "1 0" });
});
