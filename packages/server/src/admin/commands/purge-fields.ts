import { formatZxid, parseZxid, type Zxid } from "@zooid/model";
import type { PurgeOutline, PurgePoint, PurgeRequest, PurgeStatus } from "../../storage/history-purges.ts";
import { BadParameter } from "../client-reports.ts";
import type { Json } from "../java-json.ts";

const THROUGH = "through is a zxid like 0x300000007, or a time like 2026-05-31T23:59:00Z";

/** The range that a request asks to be removed. */
export function purgeRequestOf(query: URLSearchParams): PurgeRequest | BadParameter {
  const point = pointOf(query.get("through") ?? "");
  if (point === undefined) return new BadParameter(THROUGH);
  return { point, withBackup: query.get("backups") === "true" };
}

function pointOf(text: string): PurgePoint | undefined {
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) {
    const zxid = zxidOf(text);
    return zxid === undefined ? undefined : { zxid };
  }
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]{1,20}(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const timeMs = Date.parse(text);
  return timeMs >= 0 ? { timeMs } : undefined;
}

/** Undefined for one that no server gives out. */
function zxidOf(text: string): Zxid | undefined {
  try {
    return parseZxid(text);
  } catch {
    return undefined;
  }
}

export function outlineFields({ through, fileCount, baseCount, bytes, backupCount }: PurgeOutline): {
  readonly [key: string]: Json;
} {
  return {
    through: formatZxid(through),
    files: fileCount,
    bases: baseCount,
    bytes,
    backup_objects: backupCount ?? null,
  };
}

export function purgeFields(status: PurgeStatus): { readonly [key: string]: Json } {
  const { state, through, fileCount, baseCount, backupCount, base, fault } = status;
  return {
    state,
    through: through === undefined ? null : formatZxid(through),
    files: fileCount ?? null,
    bases: baseCount ?? null,
    backup_objects: backupCount ?? null,
    base_zxid: base === undefined ? null : formatZxid(base),
    fault: fault ?? null,
  };
}
