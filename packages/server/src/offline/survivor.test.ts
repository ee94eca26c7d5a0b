import { cpSync, readdirSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { composeZxid, OpCode, ZXID_NONE } from "@zooid/model";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { newestFirst, positionText, readSurvivor, type Survivor } from "./survivor.ts";

test("an entry that is not the one that was logged is reported as damage, beside what is known without it", async () => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-survivor-"));
  const [dataDir, damaged] = [join(place.path, "data"), join(place.path, "damaged")];
  {
    await using zk = await startTestServer({ dataDir });
    await using client = await RawClient.withSession(zk.port);
    for (const path of ["/a", "/b"]) await client.ask(OpCode.CREATE, create(path));
  }
  const segment = readdirSync(dataDir).find((name) => /^log-.*\.db$/.test(name)) ?? "";
  const whole = readSurvivor({ dataDir });
  expect(whole).toMatchObject({ damage: undefined, uncommittedCount: 1, timeMs: expect.any(Number) });
  const database = new DatabaseSync(join(dataDir, segment));
  // The sums of the file and of its pages are right: the entry alone is another one.
  database.prepare("UPDATE log SET entry = CAST(entry || x'00' AS BLOB) WHERE zxid = ?").run(whole.zxid);
  cpSync(dataDir, damaged, { recursive: true, filter: (name) => !name.endsWith("-shm") });
  database.close();
  const found = readSurvivor({ dataDir: damaged });
  const { zxid, committed, epoch, sid } = whole;
  expect(found).toMatchObject({ zxid, committed, epoch, sid, uncommittedCount: undefined, timeMs: undefined });
  expect(found.damage).toMatch(/is damaged at/);
});

test("the newest history comes first: by the epoch of its leader, then by its last transaction", () => {
  const of = (epoch: number, last: number, sid: number): Survivor => ({
    directories: { dataDir: "" },
    sid,
    ensembleId: "",
    epoch,
    epochMax: epoch,
    zxid: composeZxid(1, last),
    timeMs: 0,
    committed: composeZxid(1, 0),
    uncommittedCount: 0,
    members: undefined,
    damage: undefined,
  });
  const survivors = [of(2, 5, 1), of(3, 1, 2), of(2, 9, 3), of(3, 2, 4)];
  expect(newestFirst(survivors).map(({ sid }) => sid)).toEqual([4, 2, 3, 1]);
});

test.each([
  [ZXID_NONE, "no transaction"],
  [composeZxid(0, 1), "0x1 (epoch 0)"],
  [composeZxid(3, 0), "0x300000000 (epoch 3)"],
  [composeZxid(3, 7), "0x300000007 (epoch 3)"],
])("the position %d is written as %s", (zxid, text) => {
  expect(positionText(zxid)).toBe(text);
});
