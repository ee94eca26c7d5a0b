import type { DataTree } from "@zooid/data-tree";
import type { TxnHeader, TxnOp } from "@zooid/model";

/**
 * Receives each transaction before its first op and after its last one. A replica itself does not
 * report these moments.
 */
export interface TreeWatcher {
  applying(header: Readonly<TxnHeader>, first: Readonly<TxnOp>): void;
  applied(header: Readonly<TxnHeader>): void;
}

export function watchTree(tree: DataTree, watcher: TreeWatcher): void {
  const apply = tree.apply.bind(tree);
  const finish = tree.finish.bind(tree);
  let applying = -1;
  tree.apply = (header, op, sink) => {
    if (header.zxid !== applying) {
      applying = header.zxid;
      watcher.applying(header, op);
    }
    return apply(header, op, sink);
  };
  tree.finish = (header) => {
    finish(header);
    watcher.applied(header);
  };
}
