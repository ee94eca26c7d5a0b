import { formatSessionId, formatZxid, type SessionId, type Stat } from "@zooid/model";
import type { JsonObject } from "../output.ts";
import { formatJavaDate } from "./java-date.ts";

/** The eleven lines that scripts parse, in zkCli's order and spelling. */
export function statLines(stat: Stat): readonly string[] {
  return [
    `cZxid = ${formatZxid(stat.czxid)}`,
    `ctime = ${formatJavaDate(stat.ctimeMs)}`,
    `mZxid = ${formatZxid(stat.mzxid)}`,
    `mtime = ${formatJavaDate(stat.mtimeMs)}`,
    `pZxid = ${formatZxid(stat.pzxid)}`,
    `cversion = ${stat.cversion}`,
    `dataVersion = ${stat.version}`,
    `aclVersion = ${stat.aversion}`,
    `ephemeralOwner = ${formatSessionId(stat.ephemeralOwner as SessionId)}`,
    `dataLength = ${stat.dataLength}`,
    `numChildren = ${stat.numChildren}`,
  ];
}

/** For `--json`: 64-bit values as text, since JSON's readers round numbers; times as ISO 8601. */
export function statJson(stat: Stat): JsonObject {
  return {
    czxid: formatZxid(stat.czxid),
    ctime: new Date(stat.ctimeMs).toISOString(),
    mzxid: formatZxid(stat.mzxid),
    mtime: new Date(stat.mtimeMs).toISOString(),
    pzxid: formatZxid(stat.pzxid),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: formatSessionId(stat.ephemeralOwner as SessionId),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}
