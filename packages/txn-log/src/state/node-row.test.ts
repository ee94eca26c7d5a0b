import { copySlice, STAT_BYTES, StatOffset } from "@zooid/model";
import { expect, test } from "vitest";
import { encodeRow, isWhole, newStateNode, viewNode } from "./node-row.ts";

test.each([
  ["with data", Buffer.from("some bytes")],
  ["with empty data", Buffer.alloc(0)],
  ["without data", null],
])("a node %s has a row from which it is read again", (_, data) => {
  const name = Buffer.from("größe");
  const stat = Buffer.alloc(STAT_BYTES, 7);
  stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
  const row = Buffer.from(encodeRow({ id: 2 ** 40, parentId: 3, name, data, stat, acl: [] }, 5));
  expect(isWhole(row)).toBe(true);
  const node = newStateNode();
  expect(viewNode(row, node)).toBe(5);
  expect([node.id, node.parentId, node.hasData]).toEqual([2 ** 40, 3, data !== null]);
  expect(Buffer.from(copySlice(node.name))).toEqual(name);
  expect(Buffer.from(copySlice(node.data))).toEqual(data ?? Buffer.alloc(0));
  expect(Buffer.from(copySlice(node.stat))).toEqual(stat);
});
