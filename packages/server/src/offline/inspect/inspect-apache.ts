import { statSync } from "node:fs";
import { type Acl, counted, type NodeKind, nodeKind, OPEN_ACL, StatOffset } from "@zooid/model";
import {
  type ApacheChange,
  type ApacheSnapshotParts,
  type ApacheTransaction,
  apacheLogEntries,
} from "@zooid/txn-log/sqlite";
import { decodedEntry } from "../apache/read-apache.ts";
import { readSnapshot } from "../apache/read-snapshot.ts";
import { aclText, dataText, timesText, timeText } from "./inspect-lines.ts";
import type { InspectOptions } from "./inspect-options.ts";

/** Where a stored stat, which has no lengths, has the zxid of the last change of the children. */
const PZXID_OFFSET = 52;

/**
 * Says what is in a log of Apache ZooKeeper's. Every entry is checked.
 *
 * @throws StoreError
 */
export function inspectApacheLog(file: string, options: InspectOptions, print: (line: string) => void): void {
  let [first, last]: (ApacheTransaction | undefined)[] = [];
  let count = 0;
  const torn = forEachTransaction(file, (transaction) => {
    first ??= transaction;
    last = transaction;
    count++;
  });
  const rest = torn === undefined ? "" : `, and no whole one at byte ${torn}`;
  const range = first === undefined || last === undefined ? "" : ` ${rangeText(first, last)}`;
  const size = counted(statSync(file).size, "byte");
  print(`${file}: a log of Apache ZooKeeper, ${counted(count, "transaction")}${range}, ${size}${rest}; whole`);
  if (!options.hasEntries) return;
  forEachTransaction(file, (transaction) => {
    for (const line of changeLines(transaction, options.hasData)) print(line);
  });
}

/** @returns the place of what is no whole entry at the end */
function forEachTransaction(file: string, act: (transaction: ApacheTransaction) => void): number | undefined {
  const entries = apacheLogEntries(file);
  for (;;) {
    const entry = entries.next();
    if (entry.done === true) return entry.value;
    act(decodedEntry(file, entry.value));
  }
}

function rangeText(first: ApacheTransaction, last: ApacheTransaction): string {
  const times = timesText({ firstMs: Number(first.timeMs), lastMs: Number(last.timeMs) });
  return `from ${hex(first.zxid)} and up to ${hex(last.zxid)}, ${times}`;
}

function changeLines({ changes, session, timeMs, zxid }: ApacheTransaction, hasData: boolean): readonly string[] {
  const head = `${hex(zxid)} ${timeText(Number(timeMs))} ${hex(session)}`;
  if (changes.length === 0) return [`${head} NO_CHANGE`];
  return changes.map((change) => `${head} ${changeText(change, hasData)}`);
}

function changeText(change: ApacheChange, hasData: boolean): string {
  switch (change.kind) {
    case "create":
      return `CREATE ${JSON.stringify(change.path)}${valueText(change.data, hasData)}${hasData ? ` ${aclText(change.acl)}` : ""}`;
    case "delete":
      return `DELETE ${JSON.stringify(change.path)}`;
    case "set":
      return `SET_DATA ${JSON.stringify(change.path)}${valueText(change.data, hasData)}`;
    case "set-acl":
      return `SET_ACL ${JSON.stringify(change.path)}${hasData ? ` ${aclText(change.acl)}` : ""}`;
    case "open-session":
      return `CREATE_SESSION ${change.timeoutMs} ms`;
    case "close-session":
      return `CLOSE_SESSION${change.paths.map((path) => ` ${JSON.stringify(path)}`).join("")}`;
  }
}

/**
 * Says what is in a snapshot of Apache ZooKeeper's. Its sums are checked.
 *
 * @throws StoreError
 */
export async function inspectApacheSnapshot(
  file: string,
  options: InspectOptions,
  print: (line: string) => void,
): Promise<void> {
  const nodes = new NodeCounts();
  const last = await readSnapshot(file, nodes, Number.POSITIVE_INFINITY);
  const [named = ""] = /(?<=snapshot\.)[0-9a-f]+/.exec(file) ?? [];
  const zxid = last ?? (named === "" ? nodes.zxidMax : BigInt(`0x${named}`));
  const ahead = nodes.zxidMax > zxid ? `, with changes up to ${hex(nodes.zxidMax)}` : "";
  const content = `${counted(nodes.count, "znode")}, ${nodes.ephemeralCount} of them ephemeral`;
  const size = counted(statSync(file).size, "byte");
  print(`${file}: a snapshot of Apache ZooKeeper, the state at ${hex(zxid)}${ahead}, ${content}, ${size}; whole`);
  if (options.hasEntries) await readSnapshot(file, new NodePrinter(options.hasData, print), Number.POSITIVE_INFINITY);
}

class NodeCounts implements ApacheSnapshotParts {
  count = 0;
  ephemeralCount = 0;
  /** The last transaction that a node has. */
  zxidMax = 0n;

  acl(): void {}

  node(_path: Buffer, _data: Buffer | null, _aclKey: bigint, stat: Buffer): void {
    this.count++;
    if (kindOf(stat) === "ephemeral") this.ephemeralCount++;
    for (const offset of [StatOffset.czxid, StatOffset.mzxid, PZXID_OFFSET]) {
      const zxid = stat.readBigInt64BE(offset);
      if (zxid > this.zxidMax) this.zxidMax = zxid;
    }
  }

  rest(): void {}
}

class NodePrinter implements ApacheSnapshotParts {
  readonly #hasData: boolean;
  readonly #print: (line: string) => void;
  readonly #acls = new Map<bigint, Acl>();

  constructor(hasData: boolean, print: (line: string) => void) {
    this.#hasData = hasData;
    this.#print = print;
  }

  acl(key: bigint, acl: Acl): void {
    this.#acls.set(key, acl);
  }

  node(path: Buffer, data: Buffer | null, aclKey: bigint, stat: Buffer): void {
    const name = JSON.stringify(path.length === 0 ? "/" : path.toString());
    const version = `version ${stat.readInt32BE(StatOffset.version)}`;
    const acl = this.#hasData ? ` ${aclText(this.#acls.get(aclKey) ?? OPEN_ACL)}` : "";
    const changed = hex(stat.readBigInt64BE(StatOffset.mzxid));
    this.#print(`${changed} ${kindOf(stat)} ${name}${valueText(data, this.#hasData)} ${version}${acl}`);
  }

  rest(): void {}
}

function kindOf(stat: Buffer): NodeKind {
  return nodeKind(stat.readInt32BE(StatOffset.ephemeralOwner), stat.readInt32BE(StatOffset.ephemeralOwner + 4));
}

function valueText(data: Buffer | null, hasData: boolean): string {
  if (data === null) return "";
  return ` ${counted(data.length, "byte")}${hasData ? ` ${dataText(data.toString())}` : ""}`;
}

function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}
