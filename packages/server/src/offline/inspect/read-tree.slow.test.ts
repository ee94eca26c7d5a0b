import { expect, test } from "vitest";
import { ArchivedHistory } from "../../testing/archived-history.ts";
import { compareTrees } from "./compare-trees.ts";
import { readTree, type TreePlace } from "./read-tree.ts";

async function differences(one: TreePlace, other: TreePlace): Promise<readonly string[]> {
  const warn = (): void => {};
  const lines: string[] = [];
  compareTrees([await readTree(one, warn), await readTree(other, warn)], true, (line) => lines.push(line));
  return lines;
}

test("two moments of a history are compared, and its newest one is that of the data", async () => {
  await using history = await ArchivedHistory.make();
  const [first, second] = await history.write(1);
  if (first === undefined || second === undefined) expect.unreachable("there are three moments");
  const { archive: path, dataDir } = history;
  const changes = await differences(
    { path, target: { zxid: first.zxid } },
    { path: dataDir, target: { zxid: second.zxid } },
  );
  expect(changes).toEqual([expect.stringMatching(/^! "\/a\/b" data "0\.1" -> "0\.2", version 1 -> 2, mzxid /)]);
  expect(await differences({ path }, { path: dataDir })).toEqual([]);
});
