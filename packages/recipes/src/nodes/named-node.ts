import { type Client, type Created, isZkError, type Payload, type Stat } from "@zooid/client";

export interface NamedNode {
  readonly path: string;
  readonly data: Payload;
  readonly mode: "persistent" | "ephemeral" | "container";
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a node of a fixed name, and its ancestors as containers. An existing node counts as
 * taken, unless it is ephemeral and of this session after a lost answer.
 *
 * @returns null where the name is taken
 */
export async function makeNamed(zk: Client, { path, data, mode, signal }: NamedNode): Promise<Created | null> {
  let isInDoubt = false;
  for (;;) {
    try {
      return await zk.create(path, data, { mode, parents: "container", signal });
    } catch (error) {
      if (!isZkError(error)) throw error;
      if (error.code === "NODE_EXISTS") {
        const stat = isInDoubt && mode === "ephemeral" ? await zk.exists(path, { signal }) : null;
        return stat !== null && stat.ephemeralOwner === zk.sessionId ? { path, stat } : null;
      }
      // The repeated request waits for the next connection.
      if (error.code !== "CONNECTION_LOSS" || error.outcome !== "unknown") throw error;
      isInDoubt = true;
    }
  }
}

/** Writes a node unconditionally, or creates it. */
export async function put(zk: Client, path: string, data: Payload, signal?: AbortSignal): Promise<Stat> {
  for (;;) {
    try {
      return await zk.set(path, data, { signal });
    } catch (error) {
      if (!isZkError(error, "NO_NODE")) throw error;
    }
    const made = await makeNamed(zk, { path, data, mode: "persistent", signal });
    if (made !== null) return made.stat;
  }
}

/** The names of the children, in order; none if the node does not exist. */
export async function namesBelow(zk: Client, path: string, signal?: AbortSignal): Promise<readonly string[]> {
  try {
    return (await zk.children(path, { signal })).names.sort();
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return [];
    throw error;
  }
}
