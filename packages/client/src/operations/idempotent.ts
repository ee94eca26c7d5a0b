/**
 * Writes that are repeated when their answer was lost, because their effect can be checked
 * afterwards.
 */
import type { Stat } from "@zooid/model";
import type { Created } from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError, type ZkError, type ZkErrorCode, zkError } from "../errors.ts";
import { type Payload, payloadBytes } from "./create-mode.ts";
import type { NodeOperations } from "./node-operations.ts";
import type { CreateOptions, DeleteOptions, VersionOptions } from "./node-options.ts";

/** @param at `create` sends the request itself, once */
export async function createOnce(
  nodes: NodeOperations,
  at: {
    readonly path: string;
    readonly data: Payload | undefined;
    readonly policy: RetryPolicy;
    readonly create: () => Promise<Created>;
  },
  options: CreateOptions,
): Promise<Created> {
  const { path, data = "", policy, create } = at;
  if (options.mode?.includes("sequential") === true) {
    const message = "create: a numbered node made twice has two names; protect: true is for those, idempotent is not";
    throw zkError({ code: "BAD_ARGUMENTS", op: "create", path, outcome: "not-sent", message });
  }
  const isOurs = (stat: Stat): boolean =>
    stat.version === 0 && (options.mode !== "ephemeral" || stat.ephemeralOwner === nodes.sessionId);
  return askedAgain(policy, {
    ask: create,
    doubt: "NODE_EXISTS",
    done: async () => {
      const node = await nodes.getOrNull(path, { ...limitsOf(options), sync: true });
      return node !== null && isOurs(node.stat) && isEqual(node.data, data) ? { path, stat: node.stat } : undefined;
    },
  });
}

export function setOnce(
  nodes: NodeOperations,
  at: { readonly path: string; readonly data: Payload; readonly policy: RetryPolicy },
  options: VersionOptions,
): Promise<Stat> {
  const { path, data, policy } = at;
  const { version = -1 } = options;
  return askedAgain(policy, {
    ask: () => nodes.set(path, data, options),
    doubt: "BAD_VERSION",
    done: async () => {
      const node = await nodes.getOrNull(path, { ...limitsOf(options), sync: true });
      return node?.stat.version === version + 1 && isEqual(node.data, data) ? node.stat : undefined;
    },
  });
}

export function deleteOnce(
  nodes: NodeOperations,
  at: { readonly path: string; readonly policy: RetryPolicy },
  options: DeleteOptions,
): Promise<void> {
  return askedAgain(at.policy, {
    ask: async () => {
      await nodes.delete(at.path, options);
      return true;
    },
    doubt: "NO_NODE",
    done: async () => true,
  }).then(() => {});
}

/** A write, the refusal that may mean that an earlier attempt succeeded, and a check for that. */
interface Doubtful<T> {
  readonly ask: () => Promise<T>;
  readonly doubt: ZkErrorCode;
  /** The result of the earlier attempt, if it succeeded. */
  readonly done: () => Promise<T | undefined>;
}

async function askedAgain<T>(policy: RetryPolicy, { ask, doubt, done }: Doubtful<T>): Promise<T> {
  const startMs = performance.now();
  let isInDoubt = false;
  for (let count = 1; ; count++) {
    try {
      return await ask();
    } catch (error) {
      if (isInDoubt && isZkError(error, doubt)) {
        const found = await done();
        if (found !== undefined) return found;
      }
      if (!isLost(error) || policy({ count, elapsedMs: performance.now() - startMs, error }) === false) throw error;
      isInDoubt = true;
    }
  }
}

/** The connection was lost before the answer; not the caller's time limit. */
export function isLost(error: unknown): error is ZkError {
  return isZkError(error) && error.outcome === "unknown" && error.retriable && error.code !== "OPERATION_TIMEOUT";
}

function limitsOf({ signal, retry }: VersionOptions | CreateOptions): Pick<VersionOptions, "signal" | "retry"> {
  return { signal, retry };
}

function isEqual(found: Uint8Array | null, data: Payload): boolean {
  const wanted = payloadBytes(data);
  if (found === null || wanted === null) return found === wanted;
  return Buffer.compare(found, wanted) === 0;
}
