import {
  type ByteSlice,
  type ConnectionRef,
  copySlice,
  type NodeView,
  type ReplySink,
  type SessionId,
  STAT_BYTES,
  StatOffset,
  sliceText,
  type WatchEventType,
} from "@zooid/model";

/** Roughly the header of a part with a Stat. */
const PART_BYTES = 100;

/** The fields of a Stat that the model predicts. */
export interface SeenStat {
  readonly czxid: number;
  readonly mzxid: number;
  readonly ctime: number;
  readonly mtime: number;
  readonly pzxid: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly owner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export type PartAnswer =
  | { readonly kind: "error"; readonly code: number }
  | { readonly kind: "empty" }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "made"; readonly path: string; readonly stat: SeenStat }
  | { readonly kind: "stat"; readonly stat: SeenStat }
  | { readonly kind: "opaque"; readonly sizeBytes: number };

/** An answer or event as a client sees it, in plain values. */
export type Answer =
  | { readonly kind: "connected"; readonly timeoutMs: number; readonly session: SessionId; readonly password: string }
  | { readonly kind: "header"; readonly code: number }
  | { readonly kind: "data"; readonly data: string | null; readonly stat: SeenStat }
  | { readonly kind: "stat"; readonly stat: SeenStat }
  | { readonly kind: "children"; readonly children: readonly string[] }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "made"; readonly path: string; readonly stat: SeenStat }
  | { readonly kind: "strings"; readonly values: readonly string[] }
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "multi"; readonly parts: readonly PartAnswer[] }
  /** An answer of a kind that only hostile tenants request. */
  | { readonly kind: "opaque"; readonly sizeBytes: number }
  | { readonly kind: "event"; readonly type: WatchEventType; readonly path: string }
  | { readonly kind: "close" };

export type AnswerReceiver = (to: ConnectionRef, xid: number, zxid: number, answer: Answer) => void;

/** Turns a replica's replies into values. A kind that no simulated client requests is a defect. */
export function answerSink(receive: AnswerReceiver): ReplySink {
  let open: { readonly xid: number; readonly zxid: number; readonly parts: PartAnswer[] } | undefined;
  const part = (one: PartAnswer): void => {
    if (open === undefined) throw new Error("a part outside a multi");
    open.parts.push(one);
  };
  const unasked = (): never => {
    throw new Error("an answer that no simulated client requests");
  };
  return {
    connected: (to, { timeoutMs, session, password }) =>
      receive(to, 0, -1, { kind: "connected", timeoutMs, session, password: hex(password) }),
    header: (to, xid, zxid, code) => receive(to, xid, zxid, { kind: "header", code }),
    data: (to, xid, zxid, node) =>
      receive(to, xid, zxid, { kind: "data", data: node.hasData ? sliceText(node.data) : null, stat: readStat(node) }),
    stat: (to, xid, zxid, node) => receive(to, xid, zxid, { kind: "stat", stat: readStat(node) }),
    children: (to, xid, zxid, node) => {
      const children: string[] = [];
      for (let more = node.firstChild(); more; more = node.nextChild()) children.push(sliceText(node.childName));
      receive(to, xid, zxid, { kind: "children", children: children.sort() });
    },
    childrenAndStat: (to, xid, zxid, node) => receive(to, xid, zxid, { kind: "opaque", sizeBytes: listingBytes(node) }),
    aclAndStat: (to, xid, zxid, acl) =>
      receive(to, xid, zxid, { kind: "opaque", sizeBytes: acl.reduce((sum, { id }) => sum + 20 + id.length, 0) }),
    path: (to, xid, zxid, path) => receive(to, xid, zxid, { kind: "path", path: sliceText(path) }),
    pathAndStat: (to, xid, zxid, path, node) =>
      receive(to, xid, zxid, { kind: "made", path: sliceText(path), stat: readStat(node) }),
    strings: (to, xid, zxid, each) => {
      const values: string[] = [];
      const isWhole = each((value) => values.push(sliceText(value)));
      // The replica lists them in any order.
      if (isWhole) receive(to, xid, zxid, { kind: "strings", values: values.sort() });
      return isWhole;
    },
    childPage: (to, xid, zxid, page) => {
      const children: string[] = [];
      for (let i = 0; i < page.count; i++) children.push(sliceText(page.child(i).name));
      // In the order of their names, which every server keeps.
      receive(to, xid, zxid, { kind: "strings", values: page.isLast ? children : [...children, "…"] });
    },
    integer: (to, xid, zxid, value) => receive(to, xid, zxid, { kind: "integer", value }),
    identities: unasked,
    token: unasked,
    multiBegin: (_, xid, zxid) => {
      open = { xid, zxid, parts: [] };
    },
    partError: (_, code) => part({ kind: "error", code }),
    partEmpty: () => part({ kind: "empty" }),
    partPath: (_, path) => part({ kind: "path", path: sliceText(path) }),
    partPathAndStat: (_, path, node) => part({ kind: "made", path: sliceText(path), stat: readStat(node) }),
    partStat: (_, node) => part({ kind: "stat", stat: readStat(node) }),
    partData: (_, node) => part({ kind: "opaque", sizeBytes: node.data.end - node.data.start }),
    partChildren: (_, node) => part({ kind: "opaque", sizeBytes: listingBytes(node) }),
    multiEnd: (to) => {
      if (open !== undefined) receive(to, open.xid, open.zxid, { kind: "multi", parts: open.parts });
      open = undefined;
    },
    event: (to, zxid, type, path) => receive(to, -1, zxid, { kind: "event", type, path: sliceText(path) }),
    close: (to) => receive(to, 0, -1, { kind: "close" }),
  };
}

/** The size of an answer without its header and one Stat. */
export function answerBytes(answer: Answer | PartAnswer): number {
  switch (answer.kind) {
    case "opaque":
      return answer.sizeBytes;
    case "data":
      return answer.data?.length ?? 0;
    case "children":
      return answer.children.reduce((sum, name) => sum + 4 + name.length, 0);
    case "strings":
      return answer.values.reduce((sum, value) => sum + 4 + value.length, 0);
    case "multi":
      return answer.parts.reduce((sum, part) => sum + PART_BYTES + answerBytes(part), 0);
    default:
      return 0;
  }
}

function listingBytes(node: NodeView): number {
  let bytes = 0;
  for (let more = node.firstChild(); more; more = node.nextChild()) {
    bytes += 4 + node.childName.end - node.childName.start;
  }
  return bytes;
}

function hex(slice: Readonly<ByteSlice>): string {
  return Buffer.from(copySlice(slice)).toString("hex");
}

function readStat({ statView, statStart }: NodeView): SeenStat {
  const view = new DataView(statView.buffer, statView.byteOffset + statStart, STAT_BYTES);
  const long = (at: number): number => Number(view.getBigInt64(at));
  return {
    czxid: long(StatOffset.czxid),
    mzxid: long(StatOffset.mzxid),
    ctime: long(StatOffset.ctime),
    mtime: long(StatOffset.mtime),
    pzxid: long(StatOffset.pzxid),
    version: view.getInt32(StatOffset.version),
    cversion: view.getInt32(StatOffset.cversion),
    aversion: view.getInt32(StatOffset.aversion),
    owner: view.getBigInt64(StatOffset.ephemeralOwner),
    dataLength: view.getInt32(StatOffset.dataLength),
    numChildren: view.getInt32(StatOffset.numChildren),
  };
}

/** For a trace: short, and equal for equal answers. */
export function describeAnswer(answer: Answer): string {
  return JSON.stringify(answer, (_, value: unknown) =>
    typeof value === "bigint" ? `0x${BigInt.asUintN(64, value).toString(16)}` : value,
  );
}
