import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";

/** What each is to have said when it ends. */
const SAYS: Readonly<Record<string, readonly RegExp[]>> = {
  "config-center.ts": [
    /still in force: \{ requestsPerSecond: 100 \}/,
    /changed since: false/,
    /asking anybody: .* 300 /,
  ],
  "fair-and-unfair.ts": [/^fair: 29 hand-overs, in order,/m, /^unfair: 29 hand-overs,/m],
  "flash-sale.ts": [/^100 buyers, 10 sold, 0 left$/m],
  "hbase-pattern.ts": [/master-2 is active/, /orders,j-r is at rs-1/],
  "leader.ts": [/worker-2 stands by/, /worker-2 leads and goes on from step [1-9]/, /worker-2 has done step/],
  "queue.ts": [/puts it back/, /^12 sent, 12 different$/m],
  "service-registry.ts": [/registered: a, b, c/, /registered: b, c/, /b does not answer/],
  "worker-pool.ts": [/each has a third/, /worker-3 was killed/, /each has half/],
};
/** Several processes each, on machines that may be busy. */
const PATIENCE_MS = 180_000;
const SHARED = ["zookeeper.ts"];
const FILES = globSync("*.ts", { cwd: import.meta.dirname })
  .filter((file) => !file.endsWith(".test.ts") && !SHARED.includes(file))
  .sort();

test("there is something to expect of each", () => {
  expect(FILES).toEqual(Object.keys(SAYS).sort());
});

describe.each(FILES)("%s", (file) => {
  const path = join(import.meta.dirname, file);

  test("says on its first lines what it shows and how to run it", () => {
    expect(readFileSync(path, "utf8")).toMatch(
      new RegExp(`^/\\*\\*\\n \\* Shows [^]*npm run example examples/src/${basename(file)} `),
    );
  });

  test(
    "shows it",
    () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ["--conditions=@zooid/source", path], {
        encoding: "utf8",
        timeout: PATIENCE_MS,
      });
      expect([status, stderr]).toEqual([0, ""]);
      for (const says of SAYS[file] ?? []) expect(stdout).toMatch(says);
    },
    PATIENCE_MS,
  );
});
