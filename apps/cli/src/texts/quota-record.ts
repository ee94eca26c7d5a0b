import { CliError } from "../cli-error.ts";

/** The reserved tree of limits and usage, below the quota's own path. */
export const QUOTA_ROOT = "/zookeeper/quota";
export const LIMITS_NAME = "zookeeper_limits";
export const STATS_NAME = "zookeeper_stats";

export function limitsPath(path: string): string {
  return `${QUOTA_ROOT}${path}/${LIMITS_NAME}`;
}

export function statsPath(path: string): string {
  return `${QUOTA_ROOT}${path}/${STATS_NAME}`;
}

/**
 * The data of a quota node: counts or limits, -1 for none. Hard limits are missing in records of
 * servers before 3.7.
 */
export interface QuotaRecord {
  readonly count: number;
  readonly bytes: number;
  readonly byteHardLimit?: number;
  readonly countHardLimit?: number;
}

export type QuotaField = keyof QuotaRecord;

export const NO_LIMITS: QuotaRecord = { count: -1, bytes: -1, byteHardLimit: -1, countHardLimit: -1 };
export const NO_COUNTS: QuotaRecord = { count: 0, bytes: 0 };

/**
 * The node's text: `count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1`. The stray `=` keeps it
 * readable for old servers.
 */
export function formatQuota({ count, bytes, byteHardLimit, countHardLimit }: QuotaRecord): string {
  const hard = [
    ...(byteHardLimit === undefined ? [] : [`byteHardLimit=${byteHardLimit}`]),
    ...(countHardLimit === undefined ? [] : [`countHardLimit=${countHardLimit}`]),
  ];
  return `count=${count},bytes=${bytes}${hard.length === 0 ? "" : `=;${hard.join(";")}`}`;
}

export function parseQuota(text: string, path: string): QuotaRecord {
  const fields = new Map<string, number>();
  for (const pair of text.split(/[,;]/)) {
    const [name = "", value = ""] = pair.split("=");
    if (/^-?\d+$/.test(value)) fields.set(name, Number(value));
  }
  const count = fields.get("count");
  const bytes = fields.get("bytes");
  if (count === undefined || bytes === undefined) {
    throw new CliError(`${path} holds no quota: ${JSON.stringify(text.slice(0, 80))}`, {
      code: "UNREADABLE_ANSWER",
      path,
    });
  }
  const byteHardLimit = fields.get("byteHardLimit");
  const countHardLimit = fields.get("countHardLimit");
  return {
    count,
    bytes,
    ...(byteHardLimit === undefined ? {} : { byteHardLimit }),
    ...(countHardLimit === undefined ? {} : { countHardLimit }),
  };
}

/** zkCli's warnings for limits below the current usage. */
export function exceededWarnings(limits: QuotaRecord, used: QuotaRecord): readonly string[] {
  const isBelow = (limit: number | undefined, present: number): boolean =>
    limit !== undefined && limit > -1 && limit < present;
  const warnings: string[] = [];
  if (isBelow(limits.count, used.count) || isBelow(limits.countHardLimit, used.count)) {
    warnings.push(`[Warning]: the count quota you create is less than the existing count:${used.count}`);
  }
  if (isBelow(limits.bytes, used.bytes) || isBelow(limits.byteHardLimit, used.bytes)) {
    warnings.push(`[Warning]: the bytes quota you create is less than the existing bytes:${used.bytes}`);
  }
  return warnings;
}
