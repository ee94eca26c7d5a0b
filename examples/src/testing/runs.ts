import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

export const DIRECTORY: string = join(import.meta.dirname, "..");

/** The expected output of each. */
export const SAYS: Readonly<Record<string, readonly RegExp[]>> = {
  "config-center.ts": [
    /still in force: \{ requestsPerSecond: 100 \}/,
    /changed since: false/,
    /asking anybody: .* 300 /,
  ],
  "fair-and-unfair.ts": [/^fair: 29 hand-overs, in order,/m, /^unfair: 29 hand-overs,/m],
  "flash-sale.ts": [/^100 buyers, 10 sold, 0 left$/m],
  "hbase-pattern.ts": [/master-2 is active/, /orders,j-r is at rs-1/],
  "leader.ts": [/worker-2 stands by/, /worker-2 leads and goes on from step [1-9]/, /worker-2 has done step/],
  "logging-with-pino.ts": [
    /"level":30,.*"service":"shop","state":"connected","session":"0x[0-9a-f]+","server":"[^"]+".*"msg":"connected /,
    /"level":20,.*"server":"127\.0\.0\.1:1","attempt":1,.*ECONNREFUSED/,
    /"level":40,.*still trying: 127\.0\.0\.1:1/,
    /"level":50,.*"code":"OPERATION_TIMEOUT"/,
  ],
  "queue.ts": [/puts it back/, /^12 sent, 12 different$/m],
  "replicated-counter.ts": [/^20 seeds: no acknowledged increment is lost$/m],
  "service-registry.ts": [/registered: a, b, c/, /registered: b, c/, /b does not answer/],
  "tracing-with-opentelemetry.ts": [
    /^create \/examples-order below an order, no error$/m,
    /^get \/examples-missing below an order, NO_NODE$/m,
    /^delete \/examples-order below nothing, no error$/m,
  ],
  "worker-pool.ts": [/each has a third/, /worker-3 was killed/, /each has half/],
};
/** Several processes each, on machines that may be busy. */
const DEADLINE_MS = 180_000;

/** Tests that an example, in a process of its own, prints the expected output. */
export function testRun(file: string): void {
  test(
    `${file} shows it`,
    () => {
      const path = join(DIRECTORY, file);
      const { status, stdout, stderr } = spawnSync(process.execPath, ["--conditions=@zooid/source", path], {
        encoding: "utf8",
        timeout: DEADLINE_MS,
        // Colour codes would split the words.
        env: { ...process.env, FORCE_COLOR: "0" },
      });
      expect([status, stderr]).toEqual([0, ""]);
      for (const says of SAYS[file] ?? []) expect(stdout).toMatch(says);
    },
    DEADLINE_MS,
  );
}
