import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { membersOf, serverId, ZXID_NONE } from "@zooid/model";
import { openStore } from "@zooid/txn-log/sqlite";
import { encodeMembers } from "@zooid/zab";
import { expect, test } from "vitest";
import type { ServerOptions } from "../config.ts";
import { startServer } from "../server.ts";

const SERVERS = [1, 2, 3].map((sid) => ({ sid, host: `127.0.0.${sid}`, quorumPort: 1, electionPort: 2 }));
/** The number of a process, and memory that the processes of one database share. */
const OF_PROCESSES = /^zooid\.pid$|-shm$/;

/** Content that a start may not change. */
function digestsOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(directory, name)).isFile() && !OF_PROCESSES.test(name))
    .map(
      (name) =>
        `${name} ${createHash("sha256")
          .update(readFileSync(join(directory, name)))
          .digest("hex")}`,
    )
    .sort();
}

test.each<[string, Partial<ServerOptions>, RegExp]>([
  ["without a list", {}, /the data is that of an ensemble of servers 1, 2, 3/],
  [
    "with the number of another server",
    { ensemble: { sid: 2, servers: SERVERS, allowUnauthenticatedPeers: true } },
    /expected server 2, found server 1/,
  ],
])("a start %s on the data of an ensemble is refused, and changes nothing", async (_, options, reason) => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-ensemble-data-"));
  const dataDir = join(place.path, "data");
  const fail = (error: Error): never => {
    throw error;
  };
  {
    const handler = { appended: () => {}, roomChanged: () => {}, failed: fail, warned: () => {} };
    await using store = await openStore({ directory: dataDir, sid: 1, handler });
    const members = membersOf(
      SERVERS.map((server) => ({
        ...server,
        sid: serverId(server.sid),
        isObserver: false,
        clientAddress: undefined,
        weight: 1,
        group: undefined,
      })),
      ZXID_NONE,
    );
    await new Promise<void>((done) => store.log.setConfigs({ committed: encodeMembers(members) }, done));
  }
  const before = digestsOf(dataDir);
  expect(before.length).toBeGreaterThan(1);
  for (let i = 0; i < 2; i++) await expect(startServer({ port: 0, dataDir, ...options })).rejects.toThrow(reason);
  expect(digestsOf(dataDir)).toEqual(before);
});
