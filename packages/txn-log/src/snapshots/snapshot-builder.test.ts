import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatsAt } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Chain } from "../log/chain.ts";
import type { EpochRange } from "../log/txn-log.ts";
import { Z } from "../testing/append-batches.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { SnapshotBuilder, type SnapshotExpectation } from "./snapshot-builder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const POSITION = { zxid: Z(2, 5), chain: 7n as Chain };
const EPOCHS: readonly EpochRange[] = [
  { epoch: 1, first: 1, last: 9 },
  { epoch: 2, first: 1, last: 5 },
];
const ANNOUNCED: SnapshotExpectation = { position: POSITION, epochs: EPOCHS, ensembleId: "ours" };
const HEADER: SnapshotHeader = {
  format: formatsAt(1).snapshot,
  ensembleId: "ours",
  position: POSITION,
  epochs: EPOCHS,
  digestHigh: 0,
  digestLow: 0,
  nextNodeId: 1,
  level: 1,
  nodeCount: 0,
  sessionCount: 0,
};

function outcome(header: Partial<SnapshotHeader>, announced: Partial<SnapshotExpectation> = {}): string {
  const file = join(place.path, "state-2.db");
  const builder = new SnapshotBuilder(file, { ...ANNOUNCED, ...announced });
  try {
    builder.header({ ...HEADER, ...header });
    return "taken";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    builder.abandon();
    expect(existsSync(file)).toBe(false);
  }
}

/** The table with one number changed, for each number; and with a row more or less. */
const OTHER_TABLES: readonly (readonly EpochRange[])[] = [
  [],
  EPOCHS.slice(0, 1),
  [...EPOCHS, { epoch: 3, first: 1, last: 1 }],
  ...EPOCHS.flatMap((row, i) =>
    (["epoch", "first", "last"] as const).map((name) => EPOCHS.with(i, { ...row, [name]: row[name] + 1 })),
  ),
];

test.each<readonly [what: string, header: Partial<SnapshotHeader>, announced: Partial<SnapshotExpectation>]>([
  ["what was announced", {}, {}],
  ["any epoch table, where none was announced", { epochs: [] }, { epochs: undefined }],
  ["a state without an ensemble, where one was announced", { ensembleId: "" }, {}],
  ["a state of any ensemble, where none was announced", { ensembleId: "theirs" }, { ensembleId: "" }],
  ["a feature level that is known", { level: 2 }, { levels: { lowest: 1, highest: 2 } }],
])("a snapshot is taken with %s", (_, header, announced) => {
  expect(outcome(header, announced)).toBe("taken");
});

test.each<readonly [what: string, header: Partial<SnapshotHeader>, reason: string]>([
  ["an earlier place", { position: { ...POSITION, zxid: Z(2, 4) } }, "another history or place"],
  ["a later place", { position: { ...POSITION, zxid: Z(3, 1) } }, "another history or place"],
  ["the same place of another history", { position: { ...POSITION, chain: 8n as Chain } }, "another history or place"],
  ["a later feature level", { level: 2 }, "the state has feature level 2, and this version knows level 1"],
  ["no feature level", { level: 0 }, "the state has feature level 0"],
  ["a state of another ensemble", { ensembleId: "theirs" }, "a state of ensemble theirs, where this is ours"],
  ...OTHER_TABLES.map(
    (epochs) => [`the epochs ${JSON.stringify(epochs)}`, { epochs }, "another epoch table than the announced"] as const,
  ),
])("a snapshot is refused with %s", (_, header, reason) => {
  expect(outcome(header)).toContain(reason);
});
