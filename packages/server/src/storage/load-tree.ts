import type { DataTree } from "@zooid/data-tree";
import { type ByteSlice, formatZxid, ZXID_NONE } from "@zooid/model";
import { type StateMeta, type StateSink, StoreError } from "@zooid/txn-log";
import { derivedPasswordHash, type Store } from "@zooid/txn-log/sqlite";

/**
 * Fills a tree from the state that a store's log names, and compares the tree's digest with the
 * state's.
 *
 * @param stateFile for the error
 * @throws StoreError with `DAMAGED`
 */
export function loadTree(tree: DataTree, store: Store, stateFile: string): StateMeta {
  tree.beginLoad();
  const meta = store.loadState(treeSink(tree));
  tree.finishLoad({ applied: meta.applied.zxid, nextNode: meta.nextNodeId, level: meta.level });
  checkDigest(tree, meta, stateFile);
  return meta;
}

/** Fills a tree whose load has begun. */
export function treeSink(tree: DataTree): StateSink {
  return {
    session: ({ idHigh, idLow, timeoutMs, passwordHash }) => {
      const hasDerivedPassword = derivedPasswordHash(idHigh, idLow).equals(passwordHash);
      tree.loadSession({ high: idHigh, low: idLow, timeoutMs, passwordHash, hasDerivedPassword });
    },
    node: ({ id, parentId, name, hasData, data, stat, acl }) =>
      tree.loadNode({ id, parentId, name: view(name), data: hasData ? view(data) : null, stat: view(stat), acl }),
  };
}

function checkDigest(tree: DataTree, meta: StateMeta, file: string): void {
  if (meta.applied.zxid === ZXID_NONE) return;
  // A state that was taken over: its digest was never computed, and each row has a sum of its own.
  if (meta.digestHigh === 0 && meta.digestLow === 0) return;
  if (tree.digestHigh === meta.digestHigh && tree.digestLow === meta.digestLow) return;
  const place = `the state at ${formatZxid(meta.applied.zxid)}`;
  throw new StoreError({ code: "DAMAGED", file, place, found: "its digest is not the one that the tree had there" });
}

function view({ bytes, start, end }: Readonly<ByteSlice>): Uint8Array {
  return bytes.subarray(start, end);
}
