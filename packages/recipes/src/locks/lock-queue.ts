/**
 * The queue of ordered ephemeral children that most recipes share.
 *
 *     make a node ─▶ list ─▶ blocked? ─▶ watch the blocking node ─▶ list …
 *          ▲           │ no: granted, if the node is the live session's and there is a connection
 *          └───────────┘ our node is gone, or of an ended session: to the end of the queue
 *
 * A list that was read after the create contains all nodes with smaller numbers that will ever
 * exist, so it needs no `sync`. Events never grant anything: each wake-up lists again.
 */

import type { Client, Created, Payload } from "@zooid/client";
import { baseName, joinPath } from "@zooid/model";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { LossAlarm, unlessAborted, writable } from "../leases/waiting.ts";
import { defaultData } from "../nodes/default-data.ts";
import { orNull, watchedNode } from "../nodes/refusals.ts";
import type { ContenderForm } from "./child-names.ts";
import { contendersOf } from "./sequence.ts";

/**
 * The node to wait for, given the queue and our position in it; undefined when the lock is granted.
 */
export type Blocker = (queue: readonly string[], at: number) => string | undefined;

export interface LockQueueOptions {
  /** The parent of the contenders' nodes; created as a container. */
  readonly path: string;
  /** The prefix of names, behind the UUID. */
  readonly marker: string;
  /** The part before the marker, made from a UUID. Default: Curator's format. */
  readonly protect?: true | ((guid: string) => string) | undefined;
  readonly blocker: Blocker;
  /** Default `lock`. */
  readonly form?: ContenderForm | undefined;
  /** Default: this machine's address. */
  readonly data?: Payload | undefined;
}

/** The previous node in the queue: for a mutex. */
export const predecessor: Blocker = (queue, at) => queue[at - 1];

/**
 * Creates a node and waits until it is granted the lock.
 *
 * @throws the signal's reason, whereupon the node is deleted
 */
export async function enqueue(zk: Client, options: LockQueueOptions, signal: AbortSignal): Promise<Created> {
  for (;;) {
    const created = await createContender(zk, options, signal);
    let isMine = false;
    try {
      isMine = await waitForTurn(zk, created, options, signal);
      if (isMine) return created;
    } finally {
      // The node is lost or unwanted; a grant without a holder would block all others.
      if (!isMine) deleteOwnNodeLater(zk, created.path);
    }
  }
}

/** Takes the lock only if it can be granted at once. */
export async function tryEnqueue(
  zk: Client,
  options: LockQueueOptions,
  signal: AbortSignal,
): Promise<Created | undefined> {
  const { path, marker, blocker, form } = options;
  const before = await queued(zk, path, { signal, form });
  // As if our node were the last one. If it would have to wait, no node is created.
  const last = `${marker}9999999999`;
  if (blocker([...before, last], before.length) !== undefined) return undefined;
  const created = await createContender(zk, options, signal);
  let isMine = false;
  try {
    const queue = await queued(zk, path, { signal, form });
    const at = queue.indexOf(baseName(created.path));
    isMine = at !== -1 && blocker(queue, at) === undefined && isOfLiveSession(zk, created);
    return isMine ? created : undefined;
  } finally {
    if (!isMine) deleteOwnNodeLater(zk, created.path);
  }
}

/**
 * The contenders, first come first; none if the parent is missing. Other children are passed over.
 */
export async function queued(
  zk: Client,
  path: string,
  { form = "lock", signal }: { readonly form?: ContenderForm | undefined; readonly signal?: AbortSignal } = {},
): Promise<readonly string[]> {
  const listing = await orNull(zk.children(path, { signal }), "NO_NODE");
  return listing === null ? [] : contendersOf(listing.names, form);
}

/** Whether a node belongs to the client's current session, and the client is connected. */
export function isOfLiveSession(zk: Client, { stat }: Created): boolean {
  return stat.ephemeralOwner === zk.sessionId && zk.state.kind === "connected" && zk.aliveForMs > 0;
}

/** Creates a node at the end of the queue, and a missing parent. */
export function createContender(zk: Client, queue: LockQueueOptions, signal: AbortSignal): Promise<Created> {
  const { path, marker, protect = true, data } = queue;
  const options = { mode: "ephemeral-sequential", protect, parents: "container", signal } as const;
  return zk.create(joinPath(path, marker), data === undefined ? defaultData(zk) : data, options);
}

/** True when the node is granted the lock, false when its place in the queue is lost. */
export async function waitForTurn(
  zk: Client,
  created: Created,
  { path, blocker, form }: LockQueueOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const name = baseName(created.path);
  // The queue, which may be long, is not kept while waiting.
  const place = async (): Promise<{ readonly isGone: boolean; readonly blocking?: string | undefined }> => {
    const queue = await queued(zk, path, { signal, form });
    const at = queue.indexOf(name);
    return at === -1 ? { isGone: true } : { isGone: false, blocking: blocker(queue, at) };
  };
  for (;;) {
    const { isGone, blocking } = await place();
    if (isGone || created.stat.ephemeralOwner !== zk.sessionId) return false;
    if (blocking !== undefined) await changed(zk, joinPath(path, blocking), signal);
    else if (isOfLiveSession(zk, created)) return true;
    // The list was read in a session or on a connection that has ended since.
    else await writable(zk, signal);
  }
}

/** Waits until a node is changed or deleted, or our session is lost. */
export async function changed(zk: Client, path: string, signal: AbortSignal): Promise<void> {
  using loss = new LossAlarm(zk);
  const node = await watchedNode(zk, path, signal);
  // It was deleted after the list was read.
  if (node === null) return;
  using watch = node.watch;
  await unlessAborted(Promise.race([watch.fired, loss.rung]), signal);
}
