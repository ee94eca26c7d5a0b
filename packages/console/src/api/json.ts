/** Model values as the API shows them, and back. */
import { formatSessionId, formatZxid, type Stat } from "@zooid/client";
import type { DataJson, StatJson, WrittenData } from "./shapes.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function statJson(stat: Stat): StatJson {
  const { version, cversion, aversion, dataLength, numChildren, ephemeralOwner } = stat;
  return {
    czxid: formatZxid(stat.czxid),
    mzxid: formatZxid(stat.mzxid),
    pzxid: formatZxid(stat.pzxid),
    ctime: String(stat.ctimeMs),
    mtime: String(stat.mtimeMs),
    version,
    cversion,
    aversion,
    dataLength,
    numChildren,
    ephemeralOwner: ephemeralOwner === 0n ? null : `0x${BigInt.asUintN(64, ephemeralOwner).toString(16)}`,
  };
}

export function dataJson(bytes: Uint8Array): DataJson {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  try {
    return { base64, text: UTF8.decode(bytes) };
  } catch {
    return { base64 };
  }
}

export function dataBytes(data: WrittenData): Uint8Array {
  return "base64" in data ? Buffer.from(data.base64, "base64") : Buffer.from(data.text);
}

export { formatSessionId };
