/**
 * Keeps a data directory of this version, as it is while its server runs, for the tests of later
 * versions. It is run for each release that raises the feature level, on the commit of the release.
 *
 *     npm run tool -- keep-released-data
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { startServer } from "@zooid/embedded-server";
import { OWN_LEVELS } from "@zooid/model";
import { until } from "../faults/ensemble-servers.ts";
import { heldNodes, keepReleased } from "./released-data.ts";

toolOptions({});
const folder = mkdtempSync(join(tmpdir(), "keep-released-data-"));
const dataDir = join(folder, "data");
const SESSION_MS = 40_000;
/** The state follows the log within 30 s. */
const CHECKPOINT_MS_MAX = 60_000;

// The first start leaves a state with nodes, and the second one a log that continues it.
await serve(async (client) => {
  const empty = stateBytes();
  await fill(client);
  await until("a checkpoint", CHECKPOINT_MS_MAX, () => !stateBytes().equals(empty));
});
await serve(async (client) => {
  await change(client);
  cpSync(dataDir, join(folder, "kept"), { recursive: true });
  keepReleased(OWN_LEVELS.highest, join(folder, "kept"), await heldNodes(client));
});
rmSync(folder, { recursive: true });
console.log(`kept the data of feature level ${OWN_LEVELS.highest}`);
process.exit(0);

function stateBytes(): Buffer {
  return readFileSync(join(dataDir, "state-1.db"));
}

async function serve(use: (client: Client) => Promise<void>): Promise<void> {
  await using server = await startServer({ port: 0, dataDir });
  await using client = await connect(server.connectString, { sessionTimeoutMs: SESSION_MS });
  await use(client);
}

async function fill(client: Client): Promise<void> {
  await client.create("/app", "of the first start");
  await client.create("/app/null", null);
  await client.create("/app/many", "");
  for (let index = 0; index < 3; index++) await client.create("/app/many/n-", "x", { mode: "persistent-sequential" });
  await client.create("/app/container", "", { mode: "container" });
  await client.create("/app/container/held", "");
  await client.create("/app/read-only", "r", { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
  await client.create("/app/gone", "");
  await client.delete("/app/gone");
}

async function change(client: Client): Promise<void> {
  await client.set("/app", "of the second start");
  await client.create("/app/held", "by a session", { mode: "ephemeral" });
  await client.create("/app/many/n-", "y", { mode: "persistent-sequential" });
  await client.delete("/app/many/n-0000000000");
  await client.transaction().check("/app", 1).set("/app/null", "no more").create("/app/multi", "m").commit();
}
