/** Creates missing ancestors of a node. */
import { parentPath } from "@zooid/model";
import type { CallOptions } from "../calls/call.ts";
import type { Created } from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError } from "../errors.ts";
import type { NodeOperations } from "./node-operations.ts";
import type { ParentMode } from "./node-options.ts";

/** Containers are removed as soon as they are empty, maybe between their creation and their use. */
const PARENT_ROUNDS_MAX = 8;

interface CreateBelowParents {
  readonly path: string;
  /** The mode of the parents that are missing. */
  readonly mode: ParentMode;
  readonly policy: RetryPolicy;
  readonly options: CallOptions;
  /** Creates the node itself. */
  create(options: CallOptions): Promise<Created>;
}

/** Creates a node, and its parents where they are missing. */
export async function withParents(nodes: NodeOperations, creation: CreateBelowParents): Promise<Created> {
  const { path, mode, policy, options, create } = creation;
  const parent = parentPath(path);
  const startMs = performance.now();
  const { timeoutMs } = options;
  // The limit applies to the whole operation.
  const limited = (): CallOptions =>
    timeoutMs === undefined ? options : { ...options, timeoutMs: Math.max(0, startMs + timeoutMs - performance.now()) };
  for (let round = 1; ; round++) {
    try {
      return await create(limited());
    } catch (error) {
      if (!isZkError(error, "NO_NODE") || parent === "/" || round === PARENT_ROUNDS_MAX) throw error;
    }
    await makeParent(nodes, parent, { mode, policy, limited });
  }
}

interface ParentOptions {
  readonly mode: ParentMode;
  readonly policy: RetryPolicy;
  /** The caller's options with the remaining time. */
  readonly limited: () => CallOptions;
}

/** Upwards to the first existing ancestor, and down again. */
async function makeParent(nodes: NodeOperations, path: string, options: ParentOptions): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      await makeOne(nodes, path, options);
      return;
    } catch (error) {
      const above = parentPath(path);
      if (!isZkError(error, "NO_NODE") || above === "/" || round === PARENT_ROUNDS_MAX) throw error;
      await makeParent(nodes, above, options);
    }
  }
}

async function makeOne(nodes: NodeOperations, path: string, { mode, policy, limited }: ParentOptions): Promise<void> {
  const startMs = performance.now();
  let made = mode;
  for (let count = 1; ; count++) {
    try {
      const { signal, timeoutMs, retry } = limited();
      await nodes.create(path, "", { mode: made, signal, timeoutMs, retry });
      return;
    } catch (error) {
      if (isZkError(error, "NODE_EXISTS")) return;
      if (made === "container" && isZkError(error, "UNIMPLEMENTED")) {
        // Servers before 3.5 have no containers.
        made = "persistent";
        continue;
      }
      // A repeated create is harmless.
      const isInDoubt = isZkError(error, "CONNECTION_LOSS") && error.outcome === "unknown";
      const elapsedMs = performance.now() - startMs;
      if (!isInDoubt || policy({ count, elapsedMs, error }) === false) throw error;
    }
  }
}
