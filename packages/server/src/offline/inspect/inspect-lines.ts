import {
  type Acl,
  counted,
  errorName,
  formatSessionId,
  formatZxid,
  newTxnHeader,
  newTxnOp,
  OpCode,
  opName,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { EntrySink } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";

const DATA_CHARS_MAX = 200;
const WITH_ACL: ReadonlySet<number> = new Set([
  OpCode.CREATE,
  OpCode.CREATE2,
  OpCode.CREATE_CONTAINER,
  OpCode.CREATE_TTL,
  OpCode.SET_ACL,
]);

/** Prints a line for each change of our transactions, with values and access lists if wanted. */
export function changePrinter(hasData: boolean, print: (line: string) => void): EntrySink {
  const [decoder, header, op] = [new TxnReader(), newTxnHeader(), newTxnOp()];
  return (zxid, bytes, start, end) => {
    decoder.open(bytes, start, end, header);
    while (decoder.next(op)) print(`${zxidAndTime(zxid, header)} ${changeText(op, hasData)}${whoText(header)}`);
  };
}

export function zxidAndTime(zxid: Zxid, { sessionHigh, sessionLow, timeMs }: Readonly<TxnHeader>): string {
  const session = sessionIdFromHalves(sessionHigh, sessionLow);
  return `${formatZxid(zxid)} ${timeText(timeMs)} ${formatSessionId(session)}`;
}

/** Whose change it was, where that was recorded. */
export function whoText({ who }: Readonly<TxnHeader>): string {
  const [address = "", ...identities] = sliceText(who).split("\n");
  return address === "" ? "" : ` by ${JSON.stringify([...identities, address].join(" at "))}`;
}

export function changeText(op: Readonly<TxnOp>, hasData: boolean): string {
  const name = opName(op.op) ?? `OP_${op.op}`;
  const path = sliceText(op.path);
  const size = op.hasData ? ` ${counted(op.data.end - op.data.start, "byte")}` : "";
  const code = op.code === 0 ? "" : ` ${errorName(op.code) ?? op.code}`;
  // JSON writes what would move a terminal's cursor as an escape.
  const where = path === "" ? "" : ` ${JSON.stringify(path)}`;
  return `${name}${where}${size}${code}${hasData ? secrets(op) : ""}`;
}

function secrets({ op, hasData, data, acl }: Readonly<TxnOp>): string {
  const value = hasData ? ` ${dataText(sliceText(data))}` : "";
  return WITH_ACL.has(op) ? `${value} ${aclText(acl)}` : value;
}

export function aclText(acl: Acl): string {
  return acl.map(({ scheme, id, perms }) => `${scheme}:${JSON.stringify(id)}:${perms}`).join(",");
}

/** The name of an ensemble, or that there is none. */
export function ensembleText(ensembleId: string): string {
  return ensembleId === "" ? "a server without an ensemble" : `ensemble ${ensembleId}`;
}

export function timesText({ firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number }): string {
  return `${timeText(firstMs)} to ${timeText(lastMs)}`;
}

/** A clock that was set wrong may have given a time that is no date. */
export function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `${timeMs} ms` : date.toISOString();
}

/** The begin of a value. */
export function dataText(text: string): string {
  return JSON.stringify(text.slice(0, DATA_CHARS_MAX));
}
