/** The quota of a node: limits and use as the servers keep them, below `/zookeeper/quota`. */
import { type Client, isZkError } from "@zooid/client";
import { parentPath } from "@zooid/model";
import type { QuotaJson } from "../api/node-fact-shapes.ts";

const ROOT = "/zookeeper/quota";
const NO_LIMIT = -1n;

type Values = ReadonlyMap<string, bigint>;

/**
 * The numbers of a text such as `count=5,bytes=-1=;byteHardLimit=1000;countHardLimit=-1`; the stray
 * `=` keeps it readable for old servers. Pairs that are no numbers are left out.
 */
export function quotaValues(text: string): Values {
  const values = new Map<string, bigint>();
  for (const pair of text.split(/[,;]/)) {
    const [, name, value] = /^(\w+)=(-?\d{1,19})=?$/.exec(pair) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, BigInt(value));
  }
  return values;
}

/** The quota that holds for a node: its own, or that of the nearest ancestor that has one. */
export async function readQuota(client: Client, path: string, signal: AbortSignal): Promise<QuotaJson> {
  for (let at = path; at !== "/"; at = parentPath(at)) {
    const limits = await valuesOf(client, `${ROOT}${at}/zookeeper_limits`, signal);
    if (limits === undefined) continue;
    const used = (await valuesOf(client, `${ROOT}${at}/zookeeper_stats`, signal)) ?? new Map<string, bigint>();
    return {
      path,
      quota: {
        path: at,
        nodes: useOf(used.get("count"), limits.get("count"), limits.get("countHardLimit")),
        bytes: useOf(used.get("bytes"), limits.get("bytes"), limits.get("byteHardLimit")),
      },
    };
  }
  return { path, quota: null };
}

async function valuesOf(client: Client, path: string, signal: AbortSignal): Promise<Values | undefined> {
  try {
    return quotaValues(Buffer.from((await client.get(path, { signal })).data ?? []).toString());
  } catch (error) {
    if (!isZkError(error, "NO_NODE")) throw error;
    return undefined;
  }
}

function useOf(used: bigint | undefined, soft: bigint | undefined, hard: bigint | undefined) {
  return { used: String(used ?? 0n), softLimit: limit(soft), hardLimit: limit(hard) };
}

function limit(value: bigint | undefined): string | null {
  return value === undefined || value <= NO_LIMIT ? null : String(value);
}
