import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { FEATURE_LEVELS, formatsAt, OWN_LEVELS } from "@zooid/model";
import { expect, test } from "vitest";
import { formatStamps } from "./format-stamps.ts";
import { heldNodes, releasedLevels, restoreReleased } from "./released-data.ts";

/** The first server raises the level of its own data at once where it founds; not of found data. */
async function serve(dataDir: string, use: (client: Client) => Promise<void>): Promise<void> {
  await using server = await startServer({ port: 0, dataDir });
  await using client = await connect(server.connectString, { startTimeoutMs: 20_000 });
  await use(client);
}

test("each feature level that this version knows has a data directory", () => {
  const known = FEATURE_LEVELS.filter(({ level }) => level >= OWN_LEVELS.lowest).map(({ level }) => level);
  expect(releasedLevels().filter((level) => level >= OWN_LEVELS.lowest)).toEqual(known);
});

test.each(releasedLevels().filter((level) => level >= OWN_LEVELS.lowest))(
  "data of feature level %i are served and written, and nothing is converted",
  async (level) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "zooid-released-"));
    const dataDir = join(folder.path, "data");
    const held = restoreReleased(level, dataDir);
    const { log, state } = formatsAt(level);
    expect(formatStamps(dataDir)).toEqual({ log, state });
    await serve(dataDir, async (client) => {
      expect(await heldNodes(client)).toEqual(held);
      await client.create("/written", "by this version");
      await client.set("/app", "by this version");
    });
    expect(formatStamps(dataDir)).toEqual({ log, state });
    await serve(dataDir, async (client) => {
      expect(await client.getText("/written")).toBe("by this version");
      expect(await client.getText("/app")).toBe("by this version");
      expect(await client.getText("/zookeeper/zooid")).toContain(`level-${level}`);
    });
    expect(formatStamps(dataDir)).toEqual({ log, state });
  },
);
