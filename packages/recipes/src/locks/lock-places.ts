import type { Client } from "@zooid/client";
import type { Lock } from "../leases/use-lease.ts";

/** The absolute paths of locks, below the chroots and namespaces of their clients. */
const places = new WeakMap<object, readonly string[]>();

/**
 * Records where a lock is, when it is made.
 *
 * @param path first its own, then those below which it has nodes
 */
export function notePlace(lock: object, zk: Client, ...paths: readonly string[]): void {
  places.set(
    lock,
    paths.map((path) => (zk.root === "/" ? path : `${zk.root}${path}`)),
  );
}

/** The same for a lock that consists of others. */
export function notePlaces(lock: object, parts: readonly Lock[]): void {
  places.set(lock, parts.flatMap(placesOf));
}

/** Where a lock is; of a lock that is not of this package, its path. */
export function placesOf(lock: Lock): readonly string[] {
  return places.get(lock) ?? [lock.path];
}
