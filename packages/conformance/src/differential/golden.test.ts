import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ServerProcess } from "../endpoint.ts";
import { GOLDEN_ROOT, GOLDEN_SEEDS, goldenScript, readGolden } from "./golden.ts";
import { playScript } from "./play-script.ts";
import { ZOOID_SETTINGS } from "./settings.ts";

describe("our server says what Apache's said", () => {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  const start = async (): Promise<ServerProcess> => {
    // Of the sources: the build may be older than they are.
    const env = { NODE_OPTIONS: "--conditions=@zooid/source" };
    const server = new ServerProcess({
      kind: "zooid",
      folder: mkdtempSync(join(folder, "server-")),
      settings: ZOOID_SETTINGS,
      env,
    });
    await server.start();
    return server;
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.for(GOLDEN_SEEDS)("to seed %i", { timeout: 60_000 }, async (seed) => {
    const server = await start();
    try {
      expect(await playScript(goldenScript(seed), `127.0.0.1:${server.port}`, GOLDEN_ROOT)).toEqual(readGolden(seed));
    } finally {
      await server.kill();
    }
  });
});
