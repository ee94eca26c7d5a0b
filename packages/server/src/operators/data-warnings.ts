import { formatZxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { ServerEvent } from "./log-events.ts";

/** The warnings about the data that a server begins with. */
export function dataWarnings(
  { amnesiac, committedConfig, tail }: Pick<DurableLog, "amnesiac" | "committedConfig" | "tail">,
  { isMember, logDir }: { readonly isMember: boolean; readonly logDir: string | undefined },
): readonly { readonly event: ServerEvent; readonly text: string }[] {
  if (isMember && amnesiac) {
    const text =
      `the log in ${logDir} is lost, or a part of it: this server has data through ${formatZxid(tail.zxid)}, does not vote, and is ` +
      "not counted until a quorum of other voters has synchronized it. If a volume is not mounted, stop this server and mount it. " +
      "If most servers have lost their logs, see docs/disaster.md";
    return [{ event: "log-lost", text }];
  }
  // A recovery, or a change of the members, left one voter.
  if (!isMember && committedConfig !== undefined) {
    const text =
      "this server is the only voter of an ensemble, and serves alone: no other server can join it. " +
      "standaloneEnabled=false makes it a member of that ensemble again";
    return [{ event: "serves-alone", text }];
  }
  return [];
}
