/**
 * Standing in line: what every recipe on ordered ephemeral children shares.
 *
 *     make a node ─▶ list ─▶ blocked? ─▶ watch whoever blocks ─▶ list …
 *          ▲           │ no: granted, if the node is the live session's and there is a connection
 *          └───────────┘ our node is gone, or a session's that has ended: to the end of the line
 *
 * A list that was read behind the create shows everybody with a smaller number who will ever be there, so it needs no `sync`. Nobody is
 * granted anything by an event: each wake-up lists anew.
 */
import { type Client, type Created, isZkError, type Payload } from "@zooid/client";
import { baseName, joinPath } from "@zooid/model";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { LossAlarm, unlessAborted, writable } from "../leases/waiting.ts";
import { defaultData } from "../nodes/default-data.ts";
import { inOrder } from "./sequence.ts";

/** Whom to wait for, given the line and one's place in it; undefined when it is one's turn. */
export type Blocker = (queue: readonly string[], at: number) => string | undefined;

export interface LockQueueOptions {
  /** The parent of those who stand in line; made as a container. */
  readonly path: string;
  /** What names begin with, behind the UUID. */
  readonly marker: string;
  /** What stands before the marker, made of a UUID. Default: as Curator writes it. */
  readonly protect?: true | ((guid: string) => string) | undefined;
  readonly blocker: Blocker;
  /** Default: this machine's address. */
  readonly data?: Payload | undefined;
}

/** Waits for the next at all: the predecessor, as a mutex does. */
export const predecessor: Blocker = (queue, at) => queue[at - 1];

/**
 * Makes a node and waits until it is its turn.
 *
 * @throws the signal's reason, whereupon the node is taken back
 */
export async function enqueue(zk: Client, options: LockQueueOptions, signal: AbortSignal): Promise<Created> {
  for (;;) {
    const created = await createContender(zk, options, signal);
    let isMine = false;
    try {
      isMine = await waitForTurn(zk, created, options, signal);
      if (isMine) return created;
    } finally {
      // Ours no more, or not wanted; a grant that nobody gets would block all others.
      if (!isMine) deleteOwnNodeLater(zk, created.path);
    }
  }
}

/** Takes the turn only if it can be had at once. */
export async function tryEnqueue(
  zk: Client,
  options: LockQueueOptions,
  signal: AbortSignal,
): Promise<Created | undefined> {
  const { path, marker, blocker } = options;
  const before = await queued(zk, path, signal);
  // As it would be with us at the end. Who would have to wait leaves no trace.
  const last = `${marker}9999999999`;
  if (blocker([...before, last], before.length) !== undefined) return undefined;
  const created = await createContender(zk, options, signal);
  let isMine = false;
  try {
    const queue = await queued(zk, path, signal);
    const at = queue.indexOf(baseName(created.path));
    isMine = at !== -1 && blocker(queue, at) === undefined && isOfLiveSession(zk, created);
    return isMine ? created : undefined;
  } finally {
    if (!isMine) deleteOwnNodeLater(zk, created.path);
  }
}

/** Those who stand in line, first come first; none where the parent is missing. */
export async function queued(zk: Client, path: string, signal?: AbortSignal): Promise<readonly string[]> {
  try {
    return inOrder((await zk.children(path, { signal })).names);
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return [];
    throw error;
  }
}

/** Whether a node is the session's that the client has now, and there is a connection to tell. */
export function isOfLiveSession(zk: Client, { stat }: Created): boolean {
  return stat.ephemeralOwner === zk.sessionId && zk.state.kind === "connected" && zk.aliveForMs > 0;
}

/** Makes a node at the end of the line, and the parent where it is missing. */
export function createContender(zk: Client, queue: LockQueueOptions, signal: AbortSignal): Promise<Created> {
  const { path, marker, protect = true, data } = queue;
  const options = { mode: "ephemeral-sequential", protect, parents: "container", signal } as const;
  return zk.create(joinPath(path, marker), data === undefined ? defaultData(zk) : data, options);
}

/** True when it is the node's turn, false when its place in line is lost. */
export async function waitForTurn(
  zk: Client,
  created: Created,
  { path, blocker }: LockQueueOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const name = baseName(created.path);
  // The line itself, which may be long, is not kept while somebody waits.
  const place = async (): Promise<{ readonly isGone: boolean; readonly blocking?: string | undefined }> => {
    const queue = await queued(zk, path, signal);
    const at = queue.indexOf(name);
    return at === -1 ? { isGone: true } : { isGone: false, blocking: blocker(queue, at) };
  };
  for (;;) {
    const { isGone, blocking } = await place();
    if (isGone || created.stat.ephemeralOwner !== zk.sessionId) return false;
    if (blocking !== undefined) await changed(zk, joinPath(path, blocking), signal);
    else if (isOfLiveSession(zk, created)) return true;
    // The list came from a session or a connection that has ended since.
    else await writable(zk, signal);
  }
}

/** Waits until a node is changed or deleted, or our session is lost. */
export async function changed(zk: Client, path: string, signal: AbortSignal): Promise<void> {
  using loss = new LossAlarm(zk);
  try {
    const { watch } = await zk.get(path, { watch: true, signal });
    using _ = watch;
    await unlessAborted(Promise.race([watch.fired, loss.rung]), signal);
  } catch (error) {
    // It went between the list and this. A read arms no watch on what is not there, where `exists` would, for ever.
    if (!isZkError(error, "NO_NODE")) throw error;
  }
}
