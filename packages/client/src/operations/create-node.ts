import type { CallOptions } from "../calls/call.ts";
import type { Created } from "../calls/operation.ts";
import { isZkError, zkError } from "../errors.ts";
import { createOnce } from "./idempotent.ts";
import type { NodeOperations } from "./node-operations.ts";
import { withParents } from "./parents.ts";
import { createProtected, type UncertainCreate } from "./protected-create.ts";

/**
 * A create with its ancestors, as often as its options allow, under a protected name or a plain
 * one.
 */
export function createNode(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  return create.options.existsOk === true ? createOrFind(nodes, create) : createWithParents(nodes, create);
}

/** Ends when no other client deletes the node in between. */
async function createOrFind(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  const { path, options } = create;
  const { protect = false, mode = "persistent" } = options;
  if (mode.includes("sequential") || protect !== false) {
    const message = "create: existsOk is not for sequential and protected nodes, whose names are new";
    throw zkError({ code: "BAD_ARGUMENTS", op: "create", path, outcome: "not-sent", message });
  }
  const { signal, timeoutMs, retry } = options;
  for (;;) {
    try {
      return await createWithParents(nodes, create);
    } catch (error) {
      if (!isZkError(error, "NODE_EXISTS")) throw error;
    }
    const stat = await nodes.exists(path, { ...(signal && { signal }), ...(retry && { retry }), timeoutMs });
    if (stat !== null) return { path, stat };
  }
}

function createWithParents(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  const { path, options, policy } = create;
  const { parents } = options;
  if (parents === undefined) return createOne(nodes, create);
  const again = (limits: CallOptions): Promise<Created> =>
    createOne(nodes, { ...create, options: { ...options, ...limits } });
  return withParents(nodes, { path, mode: parents, policy, options, create: again });
}

/** Without creating ancestors. */
function createOne(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  const { path, data, options, policy } = create;
  if (options.idempotent !== true) return createNamed(nodes, create);
  const again = (): Promise<Created> => createNamed(nodes, { ...create, data: data === undefined ? "" : data });
  return createOnce(nodes, { path, data, policy, create: again }, options);
}

/** One attempt, under a protected name or a plain one. */
function createNamed(nodes: NodeOperations, create: UncertainCreate): Promise<Created> {
  const { path, data, options } = create;
  const { protect } = options;
  if (protect === undefined || protect === false) return nodes.create(path, data, options);
  return createProtected(nodes, create);
}
