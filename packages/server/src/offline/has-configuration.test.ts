import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startServer } from "../server.ts";
import { hasConfiguration } from "./has-configuration.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "zooid-has-configuration-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const MEMBER = { sid: 1, host: "127.0.0.1", quorumPort: 0, electionPort: 0, clientAddress: { port: 2182 } };

test("an empty directory, one that is missing, and that of a standalone server have none", async () => {
  expect([hasConfiguration({ dataDir }), hasConfiguration({ dataDir: join(dataDir, "nowhere") })]).toEqual([
    false,
    false,
  ]);
  expect(readdirSync(dataDir)).toEqual([]);
  await using _zk = await startServer({ port: 0, dataDir });
  await _zk.stop();
  expect(hasConfiguration({ dataDir })).toBe(false);
});

test("that of a member has one, also while the member runs", async () => {
  const ensemble = { sid: 1, servers: [MEMBER] };
  await using zk = await startServer({ port: 0, dataDir, ensemble, standaloneEnabled: false });
  await new Promise<void>((resolve) => {
    zk.members$.subscribe((members) => {
      if (members !== undefined) resolve();
    });
  });
  expect(hasConfiguration({ dataDir })).toBe(true);
  await zk.stop();
  expect(hasConfiguration({ dataDir })).toBe(true);
});
