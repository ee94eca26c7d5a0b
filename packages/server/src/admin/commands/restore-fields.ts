import { formatZxid, parseZxid } from "@zooid/model";
import type { RestoreTarget } from "../../offline/restore-plan.ts";
import type { RestoreSource } from "../../restore/restore-messages.ts";
import type { RestoreStatus } from "../../restore/running-restore.ts";
import type { Json } from "../java-json.ts";

const TIME = /^\d{1,15}$/;

/**
 * The moment that a request names, as `to=0x500000002` or as `timeMs=1760000000000`; else why not.
 */
export function momentOf(query: URLSearchParams): RestoreTarget | string {
  const [to, time] = [query.get("to"), query.get("timeMs")];
  if ((to === null) === (time === null)) return "one of to, a zxid, and timeMs, milliseconds since 1970, is needed";
  if (time !== null) {
    return TIME.test(time)
      ? { timeMs: Number(time) }
      : `timeMs is milliseconds since 1970, not ${JSON.stringify(time)}`;
  }
  try {
    return { zxid: parseZxid(to ?? "") };
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** The state of the last restore that was asked for, for operators. */
export function restoreFields(status: RestoreStatus): { readonly [key: string]: Json } {
  const { phase } = status;
  switch (status.phase) {
    case "planned":
    case "restoring":
      return { phase, ...sourceFields(status.source) };
    case "restored":
      return { phase, ...sourceFields(status.source), restored_at: formatZxid(status.at) };
    case "failed":
      return { phase, problem: status.problem };
    default:
      return { phase };
  }
}

function sourceFields(source: RestoreSource): { readonly [key: string]: Json } {
  return {
    zxid: formatZxid(source.zxid),
    base_zxid: formatZxid(source.baseZxid),
    base_taken_at: new Date(source.baseTakenMs).toISOString(),
    base_znodes: source.baseNodeCount,
    files: source.fileCount,
  };
}
