/** The file beside an export that says what it has. */
import { type AdminFields, formatZxid } from "@zooid/model";
import { numberIn, zxidIn } from "../answer-fields.ts";
import type { ExportRecord } from "./facts.ts";

export const RECORD_FILE = "zooid-return.json";

export function recordText(record: ExportRecord): string {
  const { closedAt, zxid, ...counts } = record;
  return `${JSON.stringify({ closedAt: formatZxid(closedAt), zxid: formatZxid(zxid), ...counts }, undefined, 2)}\n`;
}

/** @returns undefined for a text that is none */
export function parseRecord(text: string): ExportRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const fields = value as AdminFields;
    return {
      closedAt: zxidIn(fields, "closedAt"),
      epoch: numberIn(fields, "epoch"),
      zxid: zxidIn(fields, "zxid"),
      nodes: numberIn(fields, "nodes"),
      ephemeralsRemoved: numberIn(fields, "ephemeralsRemoved"),
      sessionsKept: numberIn(fields, "sessionsKept"),
      sessionsEnded: numberIn(fields, "sessionsEnded"),
      shortestTimeoutMs: numberIn(fields, "shortestTimeoutMs"),
      ttlNodes: numberIn(fields, "ttlNodes"),
      dataBytesMax: numberIn(fields, "dataBytesMax"),
    };
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
