import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const PARTS = "{apps/server,packages/{model,wire,data-tree,txn-log,election,zab,replica,server}}";

test("of the environment a server of no image reads the flags for Java, a backup's key, systemd's socket, and nothing else: no variable breaks it for tests", () => {
  const read = globSync(`${PARTS}/src/**/*.ts`, { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/test-/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(/process\.env\b.*/g)].map(([use]) => [file, use]),
    );
  expect(read.toSorted()).toEqual([
    // The key of a backup's bucket alone.
    ["apps/server/src/configuration/backup-key.ts", "process.env;"],
    ["apps/server/src/process/server-process.ts", "process.env)): Command {"],
    ["apps/server/src/process/server-process.ts", "process.env);"],
    // `zooid-server container` alone: its variables are an image's settings.
    ["apps/server/src/process/server-process.ts", "process.env, hostname());"],
    ["apps/server/src/process/systemd.ts", "process.env;"],
  ]);
});
