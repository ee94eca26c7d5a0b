import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatsAt, OpCode } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import type { AuditRecord } from "../operators/audit-trail.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER } from "../testing/snapshot-endpoint.ts";

// Upgrades of an ensemble are in upgrade.slow.test.ts of @zooid/cli.

test("a server alone: a later version keeps the level until an operator raises it, for good", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "zooid-upgrade-"));
  const start = async (highest: number) =>
    await startTestServer({
      dataDir: folder.path,
      admin: { port: 0 },
      superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
      levels: versionWith(highest),
    });
  {
    await using zk = await start(1);
    const { body } = await ask(zk.adminPort, "/commands/upgrade_status");
    const { log, state, snapshot } = formatsAt(1);
    expect(JSON.parse(body)).toMatchObject({
      formats: { log, state, snapshot },
      next_formats: null,
      members: [{ server_id: 1, formats: { log: [log], state: [state], snapshot: [snapshot] } }],
    });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/written"));
  }
  {
    await using zk = await start(2);
    const finalize = async (query = "") => {
      const { status, body } = await ask(zk.adminPort, `/commands/finalize_upgrade${query}`, {
        method: "POST",
        headers: SUPER,
      });
      return [status, JSON.parse(body)];
    };
    const shown = async () => JSON.parse((await ask(zk.adminPort, "/commands/upgrade_status")).body);
    const metrics = async () => (await ask(zk.adminPort, "/metrics")).body.match(/^zooid_feature_level .*$/m)?.[0];
    const records: AuditRecord[] = [];
    zk.audit$.subscribe((turn) => records.push(...turn));
    expect(await shown()).toMatchObject({ level: 1, next_level: 2, leader_id: null, highest_level: 2 });
    // The formats of a level are not known that the table of this version does not have.
    const members = [{ server_id: 1, highest_level: 2, formats: null, blocks: null }];
    expect(await shown()).toMatchObject({ formats: formatsAt(1), next_formats: null, members });
    expect(await metrics()).toBe("zooid_feature_level 1");
    expect(await finalize("?dryRun=true")).toMatchObject([200, { is_dry_run: true, level: 2, level_before: 1 }]);
    expect(await shown()).toMatchObject({ level: 1, raising_level: null });
    expect(await finalize()).toMatchObject([200, { is_dry_run: false, level: 2, level_before: 1 }]);
    expect(await finalize()).toMatchObject([200, { level: 2, level_before: 2 }]);
    expect(await shown()).toMatchObject({ level: 2, next_level: null });
    expect(await metrics()).toBe("zooid_feature_level 2");
    expect(records.map(({ operation, result }) => [operation, result])).toEqual([
      ["finalizeUpgrade", "success"],
      ["finalizeUpgrade", "success"],
    ]);
    await using client = await RawClient.withSession(zk.port);
    const { body } = await client.ask(OpCode.GET_DATA, read("/zookeeper/zooid"));
    expect(body.text()).toContain("level-2");
  }
  await expect(start(1)).rejects.toThrow(
    `${folder.path} has feature level 2, and this version knows level 1; a version that knows level 2 is needed: a level that was raised is never lowered; nothing was changed`,
  );
  await using later = await start(3);
  const { body } = await ask(later.adminPort, "/commands/upgrade_status");
  expect(JSON.parse(body)).toMatchObject({ level: 2, next_level: 3 });
});
