/** The changes of a node that a Zooid server's history keeps. */
import { type Client, formatZxid, type HistoryItem, type Zxid } from "@zooid/client";
import type { HistoryItemJson, HistoryPageJson } from "../api/history-shapes.ts";

export interface HistoryPageRequest {
  readonly path: string;
  readonly after: Zxid;
  readonly countMax: number;
  readonly signal: AbortSignal;
}

/** Some changes behind a transaction, oldest first. */
export async function readHistoryPage(
  client: Client,
  { path, after, countMax, signal }: HistoryPageRequest,
): Promise<HistoryPageJson> {
  const items: HistoryItemJson[] = [];
  let reached: Zxid | undefined;
  // A transaction may have several changes of a node, and its zxid is the cursor: none is cut.
  for await (const item of client.history(path, { after, pageSize: countMax, signal })) {
    const zxid = placeOf(item);
    if (items.length >= countMax && zxid !== reached) {
      return { path, items, next: reached === undefined ? null : formatZxid(reached) };
    }
    reached = zxid;
    items.push(itemJson(item));
  }
  return { path, items, next: null };
}

function placeOf(item: HistoryItem): Zxid {
  return item.kind === "gap" ? item.end : item.zxid;
}

function itemJson(item: HistoryItem): HistoryItemJson {
  if (item.kind === "gap") return { kind: "gap", after: formatZxid(item.after), end: formatZxid(item.end) };
  const { path, zxid, timeMs, op, version, data, isReadable, who } = item;
  return {
    kind: "change",
    path,
    zxid: formatZxid(zxid),
    time: String(timeMs),
    op,
    version,
    dataLength: data?.length ?? null,
    isReadable,
    who: who === null ? null : { address: who.address, identities: [...who.identities] },
  };
}
