/**
 * A create whose outcome can be checked after a lost answer, since its name contains a UUID. The
 * check lists the parent behind a `sync`, on the session's next connection. A late copy of the
 * request cannot overtake the list: servers refuse requests of a connection that the session has
 * left.
 */
import { joinPath } from "@zooid/model";
import type { CallOptions } from "../calls/call.ts";
import type { Created } from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError, type ZkError } from "../errors.ts";
import type { Payload } from "./create-mode.ts";
import type { NodeOperations } from "./node-operations.ts";
import type { CreateOptions } from "./node-options.ts";
import { protectedPrefix } from "./protected-name.ts";

/** A create, and what is done where its outcome stays unknown. */
export interface UncertainCreate {
  readonly path: string;
  readonly data: Payload | undefined;
  readonly options: CreateOptions;
  readonly policy: RetryPolicy;
  /**
   * Finds the node of a protected create by its prefix, in case it was created after all, and
   * deletes it.
   */
  readonly sweep: (prefix: string) => void;
}

export async function createProtected(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  const { path, data, policy, sweep } = create;
  const { protect, timeoutMs, ...options } = create.options;
  const prefixOf = typeof protect === "function" ? protect : protectedPrefix;
  options.signal?.throwIfAborted();
  const startMs = performance.now();
  // The limit applies to the whole operation.
  const limited = <T extends CallOptions>(given: T): T =>
    timeoutMs === undefined ? given : { ...given, timeoutMs: Math.max(0, startMs + timeoutMs - performance.now()) };
  const reads = { signal: options.signal, retry: options.retry };
  const at = placeOf(path);
  let prefix = prefixOf(crypto.randomUUID());
  for (let count = 1; ; count++) {
    try {
      return await nodes.create(`${at.parent}${prefix}${at.name}`, data, limited(options));
    } catch (error) {
      if (isZkError(error) && error.outcome !== "unknown") throw error;
      const elapsedMs = performance.now() - startMs;
      if (!isAskedAgain(error) || policy({ count, elapsedMs, error }) === false) {
        sweep(prefix);
        throw error;
      }
    }
    let found: Created | undefined;
    try {
      found = await findProtected(nodes, path, prefix, limited(reads));
    } catch (error) {
      sweep(prefix);
      throw error;
    }
    if (found === undefined) continue;
    if (isOfAnotherSession(nodes, found, options)) {
      // The server is about to delete it with its session.
      nodes.deleteGuaranteed(found.path, { missingOk: true }).catch(() => {});
      prefix = prefixOf(crypto.randomUUID());
      continue;
    }
    return found;
  }
}

/** The node of a protected create, if it exists. */
export async function findProtected(
  nodes: NodeOperations,
  path: string,
  prefix: string,
  options: CallOptions,
): Promise<Created | undefined> {
  const parent = placeOf(path).parent.slice(0, -1) || "/";
  let names: readonly string[];
  try {
    ({ names } = await nodes.children(parent, { ...options, sync: true }));
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return undefined;
    throw error;
  }
  const name = names.find((other) => other.startsWith(prefix));
  if (name === undefined) return undefined;
  const made = joinPath(parent, name);
  const stat = await nodes.exists(made, options);
  return stat === null ? undefined : { path: made, stat };
}

/** The parent with its slash, and the name, which is empty if the number alone is the name. */
function placeOf(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, slash + 1), name: path.slice(slash + 1) };
}

/** A lost connection; not the caller's time limit. */
function isAskedAgain(error: unknown): error is ZkError {
  return isZkError(error) && error.retriable && error.code !== "OPERATION_TIMEOUT";
}

function isOfAnotherSession(nodes: NodeOperations, { stat }: Created, { mode }: CreateOptions): boolean {
  const isEphemeral = mode === "ephemeral" || mode === "ephemeral-sequential";
  return isEphemeral && stat.ephemeralOwner !== nodes.sessionId;
}
