import { newTxnHeader, newTxnOp, OpCode, type TxnHeader, type TxnOp, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { DataTree } from "./data-tree.ts";

function newTree(): DataTree {
  return new DataTree({ hashKey: { k0: 1, k1: 2 } });
}

function raise(tree: DataTree, level: number, counter: number): void {
  const header: TxnHeader = { ...newTxnHeader(), zxid: (2 ** 32 + counter) as Zxid, op: OpCode.RAISE_LEVEL };
  const op: TxnOp = { ...newTxnOp(), op: OpCode.RAISE_LEVEL, version: level };
  tree.apply(header, op, undefined);
  tree.finish(header);
}

const digestOf = (tree: DataTree): string => `${tree.digestHigh} ${tree.digestLow}`;

test("a raise is in the tree, in its digest and in its snapshots", () => {
  const tree = newTree();
  const digests = new Set([digestOf(tree)]);
  expect(tree.level).toBe(1);
  for (const level of [2, 3]) {
    raise(tree, level, level);
    digests.add(digestOf(tree));
    expect(tree.level).toBe(level);
  }
  expect(digests.size).toBe(3);
  const copy = newTree();
  copy.loadSnapshot(tree.snapshot());
  expect([copy.level, digestOf(copy)]).toEqual([3, digestOf(tree)]);
  expect(tree.capture().level).toBe(3);
});

test("the digest does not depend on the way to a level, and level 1 adds nothing to it", () => {
  const [direct, stepwise, again] = [newTree(), newTree(), newTree()];
  raise(direct, 3, 2);
  raise(stepwise, 2, 1);
  raise(stepwise, 3, 2);
  raise(again, 1, 1);
  expect(digestOf(direct)).toBe(digestOf(stepwise));
  expect(digestOf(again)).toBe(digestOf(newTree()));
});

test("a raise that is applied again changes nothing, and a lower level is a defect", () => {
  const tree = newTree();
  raise(tree, 2, 1);
  const digest = digestOf(tree);
  raise(tree, 2, 2);
  expect(digestOf(tree)).toBe(digest);
  expect(() => raise(tree, 1, 3)).toThrow("feature level 1 follows level 2");
});
