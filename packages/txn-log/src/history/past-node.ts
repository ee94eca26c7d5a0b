import { OpCode, type PastNode, type TxnHeader, type TxnOp } from "@zooid/model/storage";

type DataPart = Pick<PastNode, "data" | "mzxid" | "mtimeMs" | "version">;
type AclPart = Pick<PastNode, "acl" | "aversion">;
type BirthPart = Pick<PastNode, "czxid" | "ctimeMs" | "ownerHigh" | "ownerLow">;

/**
 * The effect of some changes, one after another, on a node: all of it where a create or a delete is
 * among them, else the parts that they set.
 */
export class PastEffect {
  /** False behind a delete, undefined before any create or delete. */
  exists: boolean | undefined;
  data: DataPart | undefined;
  acl: AclPart | undefined;
  birth: BirthPart | undefined;

  /** Whether nothing that was before can matter. */
  get isWhole(): boolean {
    return this.exists !== undefined;
  }

  /** Takes the next change of the node; the op is lent. */
  apply({ zxid, timeMs }: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    switch (op.op) {
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        this.exists = true;
        this.data = { data: dataOf(op), mzxid: zxid, mtimeMs: timeMs, version: 0 };
        this.acl = { acl: op.acl, aversion: 0 };
        this.birth = { czxid: zxid, ctimeMs: timeMs, ownerHigh: op.ownerHigh, ownerLow: op.ownerLow };
        return;
      case OpCode.DELETE:
      case OpCode.DELETE_CONTAINER:
        this.exists = false;
        this.data = undefined;
        this.acl = undefined;
        this.birth = undefined;
        return;
      case OpCode.SET_DATA:
        this.data = { data: dataOf(op), mzxid: zxid, mtimeMs: timeMs, version: op.version };
        return;
      case OpCode.SET_ACL:
        this.acl = { acl: op.acl, aversion: op.version };
        return;
      default:
    }
  }

  /** Puts changes that were before these behind them. */
  precede(earlier: PastEffect): void {
    if (this.isWhole) return;
    this.exists = earlier.exists;
    this.data ??= earlier.data;
    this.acl ??= earlier.acl;
    this.birth = earlier.birth;
  }

  /** The same, for a state that was before: the node, or that there was none. */
  precedeState(node: PastNode | undefined): void {
    const earlier = new PastEffect();
    earlier.exists = node !== undefined;
    if (node !== undefined) [earlier.data, earlier.acl, earlier.birth] = [node, node, node];
    this.precede(earlier);
  }

  /** Undefined where the node does not exist. */
  node(): PastNode | undefined {
    if (this.exists !== true || this.data === undefined || this.acl === undefined || this.birth === undefined)
      return undefined;
    const { data, mzxid, mtimeMs, version } = this.data;
    const { acl, aversion } = this.acl;
    const { czxid, ctimeMs, ownerHigh, ownerLow } = this.birth;
    return { data, acl, czxid, mzxid, ctimeMs, mtimeMs, version, aversion, ownerHigh, ownerLow };
  }
}

/** A copy. */
function dataOf({ hasData, data }: Readonly<TxnOp>): Buffer | null {
  return hasData ? Buffer.from(data.bytes.subarray(data.start, data.end)) : null;
}
