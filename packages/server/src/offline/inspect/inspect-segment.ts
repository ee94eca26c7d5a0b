import { counted, formatZxid, newTxnHeader } from "@zooid/model";
import { readSegment, type SegmentSummary } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { changePrinter, ensembleText, timesText } from "./inspect-lines.ts";
import type { InspectOptions } from "./inspect-options.ts";

/**
 * Says what is in a segment of a log, each entry of which is checked. Entries of the newest segment
 * may not be committed.
 *
 * @throws StoreError
 */
export function inspectSegment(
  file: string,
  { hasEntries, hasData }: InspectOptions,
  print: (line: string) => void,
): void {
  const [reader, header] = [new TxnReader(), newTxnHeader()];
  let [firstMs, lastMs]: (number | undefined)[] = [];
  const summary = readSegment(file, (_, bytes, start, end) => {
    reader.open(bytes, start, end, header);
    firstMs ??= header.timeMs;
    lastMs = header.timeMs;
  });
  const times = firstMs === undefined || lastMs === undefined ? "" : `, ${timesText({ firstMs, lastMs })}`;
  const state = summary.isTorn ? "its last commit is not whole, and not read" : "whole";
  print(`${file}: ${summaryText(summary, times)}; ${state}`);
  // Behind the summary, and without keeping lines: a segment may have a million.
  if (hasEntries) readSegment(file, changePrinter(hasData, print));
}

function summaryText({ after, end, entryCount, ensembleId, isSealed, bytes }: SegmentSummary, times: string): string {
  const kind = isSealed ? "a full segment" : "the newest segment";
  const range = `after ${formatZxid(after.zxid)} and up to ${formatZxid(end.zxid)}`;
  const size = counted(bytes, "byte");
  return `${kind}, ${counted(entryCount, "transaction")} ${range}${times}, ${size}, of ${ensembleText(ensembleId)}`;
}
