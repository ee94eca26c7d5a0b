import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const PARTS = "{apps/server,packages/{model,wire,data-tree,txn-log,election,zab,replica,server}}";

test("of the environment the server reads SERVER_JVMFLAGS and nothing else: no variable breaks it for tests", () => {
  const read = globSync(`${PARTS}/src/**/*.ts`, { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/test-/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(/process\.env\b.*/g)].map(([use]) => [file, use]),
    );
  expect(read).toEqual([["apps/server/src/main.ts", expect.stringContaining('process.env["SERVER_JVMFLAGS"]')]]);
});
