import {
  counted,
  formatZxid,
  laterOf,
  type NodeKind,
  nodeKind,
  type PastNode,
  pathFault,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type HistoryBranch, HistoryReader, listArchive, logFolderOf } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { OfflineError } from "../offline-error.ts";
import { findMoment, planRestore, type RestoreTarget } from "../restore-plan.ts";
import { aclText, changeText, dataText, whoText, zxidAndTime } from "./inspect-lines.ts";

export interface NodeHistoryOptions {
  readonly path: string;
  /** Whether the nodes below count too. */
  readonly isRecursive: boolean;
  /** The transaction to begin behind; undefined: at the begin of the history. */
  readonly after: Zxid | undefined;
  /** Values and access lists are shown too: they may be secrets. */
  readonly hasData: boolean;
}

const PAGE = { blocksMax: 1000, countMax: 10_000 };

/**
 * Prints the changes of a node, or of all below it, out of an archive: a line each, as `inspect`
 * does. A server may be writing to it.
 *
 * @throws OfflineError where there is no history, StoreError for a damaged file
 */
export function printChanges(
  archive: string,
  { path, isRecursive, after, hasData }: NodeHistoryOptions,
  output: { print(line: string): void; warn(text: string): void },
): void {
  checkPath(path);
  const reader = new HistoryReader(archive, new TxnReader());
  const begin = reader.range()?.after;
  if (begin === undefined) throw new OfflineError([`${archive} has no files of a history`]);
  if (after !== undefined && after < begin) output.warn(`the history begins after ${formatZxid(begin)}`);
  const query = { path: Buffer.from(path), scope: isRecursive ? "subtree" : "node", ...PAGE } as const;
  let from = laterOf(after ?? begin, begin);
  for (let isLast = false; !isLast; ) {
    const page = reader.changes({ ...query, after: from }, (header, op) =>
      output.print(`${zxidAndTime(header.zxid, header)} ${changeText(op, hasData)}${whoText(header)}`),
    );
    for (const gap of page.gaps) {
      output.warn(`the history lacks the transactions after ${formatZxid(gap.after)} and up to ${formatZxid(gap.end)}`);
    }
    from = page.reached;
    isLast = page.isLast;
  }
}

/**
 * Prints a node at a moment of the past.
 *
 * @throws OfflineError where that is not known, or there was no node, StoreError for a damaged file
 */
export function printPastNode(
  archive: string,
  { path, at, hasData }: { readonly path: string; readonly at: RestoreTarget; readonly hasData: boolean },
  { print, warn }: { print(line: string): void; warn(text: string): void },
): void {
  checkPath(path);
  const { zxid, warnings } = findMoment(archive, at);
  for (const text of warnings) warn(text);
  const reader = new HistoryReader(archive, new TxnReader(), undefined, branchAt(archive, zxid));
  const answer = reader.nodeAt(Buffer.from(path), zxid);
  switch (answer.kind) {
    case "node":
      return print(`${JSON.stringify(path)} at ${formatZxid(zxid)}: ${nodeText(answer.node, hasData)}`);
    case "no-node":
      throw new OfflineError([`there was no node ${JSON.stringify(path)} at ${formatZxid(zxid)}`]);
    case "unknown":
      throw new OfflineError([`${archive}: ${answer.reason}`]);
  }
}

/** As a restore has it; undefined where no file begins before the end of another one. */
function branchAt(archive: string, zxid: Zxid): HistoryBranch | undefined {
  const files = listArchive(logFolderOf(archive));
  const overlaps = files.some(({ after }, i) => after < (files[i - 1]?.end ?? ZXID_NONE));
  return overlaps ? planRestore(archive, { zxid }) : undefined;
}

function checkPath(path: string): void {
  const bytes = Buffer.from(path);
  const fault = pathFault(bytes, 0, bytes.length);
  if (fault !== undefined)
    throw new OfflineError([`${JSON.stringify(path)} is no path: it ${fault === "empty" ? "is empty" : fault}`]);
}

function nodeText(node: PastNode, hasData: boolean): string {
  const { acl, aversion, ctimeMs, czxid, data, mtimeMs, mzxid, ownerHigh, ownerLow, version } = node;
  const kind: NodeKind = nodeKind(ownerHigh, ownerLow);
  const size = data === null ? "null" : counted(data.length, "byte");
  const made = `created by ${formatZxid(czxid)} at ${new Date(ctimeMs).toISOString()}`;
  const set = `set by ${formatZxid(mzxid)} at ${new Date(mtimeMs).toISOString()}`;
  const shown = hasData ? `, ${data === null ? "null" : dataText(Buffer.from(data).toString())}, ${aclText(acl)}` : "";
  return `${kind}, ${size}, version ${version}, aversion ${aversion}, ${made}, ${set}${shown}`;
}
