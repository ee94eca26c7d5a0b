import { DataTree } from "@zooid/data-tree";
import {
  composeZxid,
  counterOf,
  epochOf,
  newTxnHeader,
  newTxnOp,
  OpCode,
  Permission,
  sliceOf,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { digestOf } from "../cluster/state-image.ts";
import { Violation } from "./violation.ts";

/**
 * E2, at the end of a run: trees that differ in nothing but an access list, in nothing but data, or
 * in the epoch of a zxid have other digests. No run shows it otherwise, for all servers apply the
 * same transactions.
 */
export function checkDigestCover({ sid, replica: { tree } }: SimServer): void {
  const { applied } = tree;
  const digestWith = (op: TxnOp, zxid: Zxid): string => {
    // The tree's own method: nothing is to be reported of a change that no transaction made.
    DataTree.prototype.apply.call(tree, { ...newTxnHeader(), zxid }, op, undefined);
    return digestOf(tree);
  };
  const epoch = (more: number): Zxid => composeZxid(epochOf(applied) + more, counterOf(applied));
  const pairs = {
    "access lists": [Permission.READ, Permission.WRITE].map((perms) =>
      digestWith({ ...rootOp(OpCode.SET_ACL), acl: [{ perms, scheme: "world", id: "anyone" }] }, applied),
    ),
    data: ["one", "two"].map((data) => digestWith(setRoot(data), applied)),
    epochs: [1, 2].map((more) => digestWith(setRoot("one"), epoch(more))),
  };
  for (const [what, [one, other]] of Object.entries(pairs)) {
    if (one === other) throw new Violation("E2", `server ${sid}'s digest is ${one} with either of two ${what}`);
  }
}

function setRoot(data: string): TxnOp {
  return { ...rootOp(OpCode.SET_DATA), hasData: true, data: sliceOf(data) };
}

function rootOp(op: number): TxnOp {
  return { ...newTxnOp(), op, node: 1, path: sliceOf("/") };
}
