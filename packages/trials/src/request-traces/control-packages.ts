import { type CallCount, type CallCounts, keyOf } from "./call-counts.ts";

/** The packages that control a request; the others hold its data, or read and write its bytes. */
const CONTROL = ["server/", "replica/", "zab/", "txn-log/log/"];
const TURN = { file: "server/driver/turn-loop.ts", name: "#end" };

export function isControl({ file }: Pick<CallCount, "file">): boolean {
  return CONTROL.some((folder) => file.startsWith(folder));
}

/** Turns of the event loop that a trace had. */
export function turnsOf(trace: CallCounts): number {
  return trace.get(keyOf(TURN))?.count ?? 0;
}
