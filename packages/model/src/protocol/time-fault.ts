import { formatZxid, type Zxid } from "./zxid.ts";

/** Why a time, in ms since 1970, stands for no transaction of a history. */
export type TimeFault = { readonly askedMs: number } & (
  | {
      readonly kind: "twice";
      /** The last transaction before the first one that is stamped later. */
      readonly first: Zxid;
      /** The last one that is not stamped later. */
      readonly last: Zxid;
    }
  /** The history lacks the transactions of about that time. */
  | { readonly kind: "gap"; readonly after: Zxid; readonly end: Zxid }
  /** It begins behind a transaction, with one that is stamped later. */
  | { readonly kind: "before"; readonly zxid: Zxid; readonly timeMs: number }
  /** It ends at a transaction that is stamped earlier. */
  | { readonly kind: "behind"; readonly zxid: Zxid; readonly timeMs: number }
);

/** One sentence that says what there is, the same at every door. */
export function timeFaultText(fault: TimeFault): string {
  const asked = timeText(fault.askedMs);
  switch (fault.kind) {
    case "twice":
      return `a clock went back across ${asked}: that time was first behind ${formatZxid(fault.first)}, and last behind ${formatZxid(fault.last)}; name one of these transactions instead`;
    case "gap":
      return `the history lacks the transactions after ${formatZxid(fault.after)} and up to ${formatZxid(fault.end)}, and ${asked} lies among them`;
    case "before":
      return `the history begins after ${formatZxid(fault.zxid)}, at ${timeText(fault.timeMs)}, and so later than ${asked}`;
    case "behind":
      return `the history ends at ${formatZxid(fault.zxid)}, at ${timeText(fault.timeMs)}, and so earlier than ${asked}`;
  }
}

/** A time that a file or a request has may be none. */
function timeText(ms: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: it writes a time as text, and reads no clock
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms after 1970` : date.toISOString();
}
