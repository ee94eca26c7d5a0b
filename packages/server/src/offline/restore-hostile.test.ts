import { existsSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, listArchive, listBases, readManifest } from "@zooid/txn-log/sqlite";
import { baseOf, fileBehind } from "@zooid/txn-log/testing/archive-pieces";
import { expect, test } from "vitest";
import { ArchivedHistory } from "../testing/archived-history.ts";

/** Where the files of a history end. */
function endOf({ archive }: ArchivedHistory) {
  using opened = new ArchiveFile(listArchive(join(archive, "log")).at(-1)?.file ?? "");
  return opened.footer.end;
}

async function refusal(history: ArchivedHistory): Promise<StoreError> {
  const refused = await history.restoreTo("new").catch((error: unknown) => error);
  expect(existsSync(join(history.folder, "new"))).toBe(false);
  if (!(refused instanceof StoreError)) throw refused;
  return refused;
}

// What a backup has may be anybody's work: the sums are no secret.

test("a transaction that the tree cannot have, with sums that are right, is damage of its file", async () => {
  await using history = await ArchivedHistory.make();
  await history.write(1);
  fileBehind(history.archive, endOf(history), [Date.now()], "no-parent/");
  const { code, message } = await refusal(history);
  expect(code).toBe("DAMAGED");
  expect(message).toContain(listArchive(join(history.archive, "log")).at(-1)?.file);
});

test("a base that is no state, with sums that are right, is damage", async () => {
  await using history = await ArchivedHistory.make();
  await history.write(1);
  await baseOf(history.archive, endOf(history), Date.now());
  const base = listBases(join(history.archive, "base")).at(-1) ?? expect.unreachable("there is a base");
  expect(readManifest(base).parts).toHaveLength(1);
  const { code, message } = await refusal(history);
  expect(code).toBe("DAMAGED");
  expect(message).toContain(base.folder);
});
