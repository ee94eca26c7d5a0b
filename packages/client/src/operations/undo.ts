import {
  checkArgument,
  checkFit,
  nodeKind,
  type PastNode,
  type Rule,
  rules,
  type Shape,
  shape,
  type Zxid,
} from "@zooid/model";
import type { CallOptions } from "../calls/call.ts";
import type { NodeData } from "../calls/operation.ts";
import type { Client } from "../client.ts";
import { isZkError } from "../errors.ts";

/**
 * A step that leads from a node to its state before a transaction, guarded by the node's present
 * state.
 */
export type UndoStep =
  | { readonly kind: "none" }
  | { readonly kind: "set"; readonly data: Uint8Array | null; readonly version: number }
  | { readonly kind: "create"; readonly node: PastNode }
  | { readonly kind: "delete"; readonly version: number }
  /** A node that is not made again: its session, or its time, is over. */
  | { readonly kind: "impossible"; readonly was: "ephemeral" | "ttl" };

/** A node before a transaction and now; null where there was none, or is none. */
export interface UndoPlan {
  readonly before: Uint8Array | null;
  readonly now: Uint8Array | null;
  readonly step: UndoStep;
}

const OPTIONS: Shape<Pick<CallOptions, "signal">> = shape<Pick<CallOptions, "signal">>({ signal: rules.signal });
const zxidRule: Rule = {
  expected: "the zxid of a change, a whole number above 0",
  accepts: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};
const KINDS: ReadonlySet<unknown> = new Set<UndoStep["kind"]>(["none", "set", "create", "delete", "impossible"]);
const stepRule: Rule = {
  expected: "a step of planUndo",
  accepts: (value) => typeof value === "object" && value !== null && "kind" in value && KINDS.has(value.kind),
};

/**
 * Compares a node with its state before a transaction, which a Zooid server's history has. Nothing
 * is written.
 *
 * @throws ZkError as `get` with `at`
 */
export async function planUndo(
  client: Client,
  path: string,
  zxid: Zxid,
  options: Pick<CallOptions, "signal"> = {},
): Promise<UndoPlan> {
  checkArgument("planUndo", "a client", client, rules.client);
  checkArgument("planUndo", "a path", path, rules.path);
  checkArgument("planUndo", "a zxid", zxid, zxidRule);
  checkFit("planUndo", options, OPTIONS);
  const [before, now] = await Promise.all([
    stateBefore(client, path, zxid, options),
    client.getOrNull(path, { sync: true, ...options }),
  ]);
  return { before: before?.data ?? null, now: now?.data ?? null, step: stepOf(before, now) };
}

/**
 * Carries a step out, in one transaction.
 *
 * @throws ZkError `BAD_VERSION`, `NO_NODE` or `NODE_EXISTS` where the node has changed since
 */
export async function carryOutUndo(
  client: Client,
  path: string,
  step: UndoStep,
  options: Pick<CallOptions, "signal"> = {},
): Promise<void> {
  checkArgument("carryOutUndo", "a client", client, rules.client);
  checkArgument("carryOutUndo", "a path", path, rules.path);
  checkArgument("carryOutUndo", "a step", step, stepRule);
  checkFit("carryOutUndo", options, OPTIONS);
  switch (step.kind) {
    case "set":
      await client.set(path, step.data, { version: step.version, ...options });
      return;
    case "delete":
      await client.delete(path, { version: step.version, ...options });
      return;
    case "create": {
      const { acl, data, ownerHigh, ownerLow } = step.node;
      const mode = nodeKind(ownerHigh, ownerLow) === "container" ? "container" : "persistent";
      await client.create(path, data, { acl, mode, ...options });
      return;
    }
    case "none":
    case "impossible":
  }
}

/** Null where there was no node. */
async function stateBefore(
  client: Client,
  path: string,
  zxid: Zxid,
  options: Pick<CallOptions, "signal">,
): Promise<PastNode | null> {
  try {
    return await client.get(path, { at: (zxid - 1) as Zxid, ...options });
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return null;
    throw error;
  }
}

function stepOf(before: PastNode | null, now: NodeData | null): UndoStep {
  if (before === null) return now === null ? { kind: "none" } : { kind: "delete", version: now.stat.version };
  if (now !== null) {
    if (isSame(before.data, now.data)) return { kind: "none" };
    return { kind: "set", data: before.data, version: now.stat.version };
  }
  const was = nodeKind(before.ownerHigh, before.ownerLow);
  return was === "ephemeral" || was === "ttl" ? { kind: "impossible", was } : { kind: "create", node: before };
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
