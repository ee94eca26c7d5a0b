import { type CallCount, type CallCounts, keyOf } from "./call-counts.ts";

/** The packages that control a request; the others hold its data, or read and write its bytes. */
const CONTROL = ["server/", "replica/", "zab/", "txn-log/log/"];
/** Files of these folders that hold values, or read and write bytes. */
const VALUES = new Set(["txn-log/log/chain.ts", "txn-log/log/entry-batch.ts"]);
const TURN = { file: "server/driver/turn-loop.ts", name: "#end" };

export function isControl({ file }: Pick<CallCount, "file">): boolean {
  return !VALUES.has(file) && CONTROL.some((folder) => file.startsWith(folder));
}

/** Turns of the event loop that a trace had. */
export function turnsOf(trace: CallCounts): number {
  return trace.get(keyOf(TURN))?.count ?? 0;
}
