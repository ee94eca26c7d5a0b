import type { Codec } from "@zooid/client";
import { RecipeError } from "../recipe-error.ts";
import type { Bucket, OpenLease } from "./token-bucket.ts";

/** The node of a rate limiter, in JSON. */
export const bucketCodec: Codec<Bucket> = {
  encode: ({ level, clockMs, credits, open, fresh }) =>
    Buffer.from(JSON.stringify({ version: 1, level, clockMs, credits, open: open.map(pairOf), fresh })),
  decode: (bytes) => {
    const bucket = read(bytes);
    if (bucket === undefined) throw new RecipeError("NOT_OURS", "the bucket of a rate limiter was expected");
    return bucket;
  },
};

const pairOf = ({ untilMs, tokens }: OpenLease): readonly [number, number] => [untilMs, tokens];

/** A bucket as it may be read from a node of other data. */
type Unchecked = { readonly [field in keyof Bucket | "version"]?: unknown };

function read(bytes: Uint8Array | null): Bucket | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes ?? []).toString());
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { version, level, clockMs, credits, open, fresh } = value as Unchecked;
  if (version !== 1 || !isAmount(level) || !isAmount(clockMs) || !isAmount(credits)) return undefined;
  if (!isRecord(fresh) || !Array.isArray(open)) return undefined;
  const { tokens, leaseMs } = fresh as { readonly tokens?: unknown; readonly leaseMs?: unknown };
  if (!isAmount(tokens) || !isAmount(leaseMs)) return undefined;
  const leases: OpenLease[] = [];
  for (const pair of open as readonly unknown[]) {
    if (!Array.isArray(pair)) return undefined;
    const [untilMs, count] = pair as readonly unknown[];
    if (!isAmount(untilMs) || !isAmount(count)) return undefined;
    leases.push({ untilMs, tokens: count });
  }
  return { level, clockMs, credits, open: leases, fresh: { tokens, leaseMs } };
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
