import { DataTree } from "@zooid/data-tree";
import { newTxnHeader, newTxnOp, OpCode, Permission, sliceOf, type TxnOp } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { digestOf } from "../cluster/state-image.ts";
import { Violation } from "./violation.ts";

/**
 * E2, at the end of a run: trees that differ in nothing but an access list, or in nothing but data,
 * have other digests. No run shows it otherwise, for all servers apply the same transactions.
 */
export function checkDigestCover({ sid, replica: { tree } }: SimServer): void {
  const digestWith = (op: TxnOp): string => {
    // The tree's own method: nothing is to be reported of a change that no transaction made.
    DataTree.prototype.apply.call(tree, { ...newTxnHeader(), zxid: tree.applied }, op, undefined);
    return digestOf(tree);
  };
  const pairs = {
    "access lists": [Permission.READ, Permission.WRITE].map((perms) => ({
      ...rootOp(OpCode.SET_ACL),
      acl: [{ perms, scheme: "world", id: "anyone" }],
    })),
    data: ["one", "two"].map((data) => ({ ...rootOp(OpCode.SET_DATA), hasData: true, data: sliceOf(data) })),
  };
  for (const [what, ops] of Object.entries(pairs)) {
    const [one, other] = ops.map(digestWith);
    if (one === other) throw new Violation("E2", `server ${sid}'s digest is ${one} with either of two ${what}`);
  }
}

function rootOp(op: number): TxnOp {
  return { ...newTxnOp(), op, node: 1, path: sliceOf("/") };
}
