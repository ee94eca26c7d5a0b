import { isDeepStrictEqual } from "node:util";
import { type Acl, counted, StatOffset } from "@zooid/model";
import type { ApacheNode, ApacheTree } from "@zooid/txn-log/sqlite";
import { aclText, dataText, timeText } from "./inspect-lines.ts";

/** The result of a comparison. */
export interface Comparison {
  readonly removedCount: number;
  readonly addedCount: number;
  readonly changedCount: number;
  readonly equalCount: number;
}

type StatField = readonly [name: string, read: (stat: Buffer) => string];

/** A stored stat has no lengths before its last field. */
const PZXID_OFFSET = 52;
const STAT_FIELDS: readonly StatField[] = [
  ["version", int(StatOffset.version)],
  ["aversion", int(StatOffset.aversion)],
  ["children ever", int(StatOffset.cversion)],
  ["czxid", hex(StatOffset.czxid)],
  ["mzxid", hex(StatOffset.mzxid)],
  ["pzxid", hex(PZXID_OFFSET)],
  ["ctime", time(StatOffset.ctime)],
  ["mtime", time(StatOffset.mtime)],
  ["owner", hex(StatOffset.ephemeralOwner)],
];

/**
 * Compares two trees by path, in the order of the paths: a line begins with `-` for a node that the
 * first one has alone, `+` for one of the second, and `!` for one that differs.
 *
 * @param hasData values and access lists are shown: they may be secrets
 */
export function compareTrees(
  [before, after]: readonly [ApacheTree, ApacheTree],
  hasData: boolean,
  print: (line: string) => void,
): Comparison {
  const paths = [...new Set([...before.nodes.keys(), ...after.nodes.keys()])].sort();
  const counts = { removedCount: 0, addedCount: 0, changedCount: 0, equalCount: 0 };
  for (const path of paths) {
    const [old, current] = [before.nodes.get(path), after.nodes.get(path)];
    const name = JSON.stringify(path === "" ? "/" : path);
    if (old !== undefined && current !== undefined) {
      const changes = changesOf(old, current, hasData);
      if (changes.length === 0) counts.equalCount++;
      else {
        counts.changedCount++;
        print(`! ${name} ${changes.join(", ")}`);
      }
    } else if (old !== undefined) {
      counts.removedCount++;
      print(`- ${name} ${valueText(old.data, hasData)}`);
    } else if (current !== undefined) {
      counts.addedCount++;
      print(`+ ${name} ${valueText(current.data, hasData)}`);
    }
  }
  return counts;
}

/** The last line of a comparison. */
export function comparisonText({ removedCount, addedCount, changedCount, equalCount }: Comparison): string {
  return (
    `${counted(removedCount, "znode")} in the first one alone, ${addedCount} in the second one alone, ` +
    `${changedCount} with another content, ${equalCount} equal`
  );
}

function changesOf(old: ApacheNode, current: ApacheNode, hasData: boolean): readonly string[] {
  const changes: string[] = [];
  if (!isDeepStrictEqual(old.data, current.data)) {
    changes.push(`data ${valueText(old.data, hasData)} -> ${valueText(current.data, hasData)}`);
  }
  if (!isDeepStrictEqual(old.acl, current.acl)) {
    changes.push(hasData ? `acl ${aclOf(old.acl)} -> ${aclOf(current.acl)}` : "acl");
  }
  for (const [name, read] of STAT_FIELDS) {
    const [was, is] = [read(old.stat), read(current.stat)];
    if (was !== is) changes.push(`${name} ${was} -> ${is}`);
  }
  return changes;
}

function valueText(data: Buffer | null, hasData: boolean): string {
  if (data === null) return "null";
  return hasData ? dataText(data.toString()) : counted(data.length, "byte");
}

function aclOf(acl: Acl | undefined): string {
  return acl === undefined ? "none" : aclText(acl);
}

function int(offset: number): StatField[1] {
  return (stat) => String(stat.readInt32BE(offset));
}

function hex(offset: number): StatField[1] {
  return (stat) => `0x${stat.readBigUInt64BE(offset).toString(16)}`;
}

function time(offset: number): StatField[1] {
  return (stat) => timeText(Number(stat.readBigInt64BE(offset)));
}
