import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { GOLDEN_ROOT, goldenScript, readGolden } from "../differential/golden.ts";
import { playScript } from "../differential/play-script.ts";
import { ZOOID_SETTINGS } from "../differential/settings.ts";
import { ServerProcess } from "../servers/endpoint.ts";

/** Tests that our server says what Apache's said. */
export function testGolden(seeds: readonly number[]): void {
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

    test.for(seeds)("to seed %i", { timeout: 60_000 }, async (seed) => {
      const server = await start();
      try {
        expect(await playScript(goldenScript(seed), `127.0.0.1:${server.port}`, GOLDEN_ROOT)).toEqual(readGolden(seed));
      } finally {
        await server.kill();
      }
    });
  });
}
