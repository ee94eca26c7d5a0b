import type { Client } from "@zooid/client";
import { ArgumentError, found } from "@zooid/model";

interface User {
  readonly queue: string;
  count: number;
}

/** The queue of each path of claims while it has consumers, by session and absolute path. */
const users = new WeakMap<object, Map<string, User>>();

/**
 * Begins to use a path for the claims on a queue's items. Items of two queues have the same names:
 * with one path, each claim would keep an item of the other queue from its consumers.
 *
 * @returns ends the use
 * @throws ArgumentError where another queue of the client uses the path
 */
export function useClaimPath(zk: Client, lockPath: string, queue: string): () => void {
  const bySession = users.get(zk.sharedBySession) ?? new Map<string, User>();
  users.set(zk.sharedBySession, bySession);
  const [path, ofQueue] = [lockPath, queue].map((path) => (zk.root === "/" ? path : `${zk.root}${path}`)) as [
    string,
    string,
  ];
  const user = bySession.get(path) ?? { queue: ofQueue, count: 0 };
  if (user.queue !== ofQueue) {
    const problem = `lockPath is a path of this queue's own, found ${found(lockPath)}, which ${user.queue} has`;
    throw new ArgumentError(`consume ${queue}`, [problem]);
  }
  user.count++;
  bySession.set(path, user);
  return () => {
    user.count--;
    if (user.count === 0) bySession.delete(path);
  };
}
