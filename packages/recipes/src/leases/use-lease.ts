import { checkArgument, rules, type Shape, shape } from "@zooid/model";
import { RecipeError } from "../recipe-error.ts";
import { Deadline, WAIT, type WaitOptions } from "./deadline.ts";
import type { Grant } from "./lease.ts";
import type { Sections } from "./sections.ts";

/** A lock that can be waited for or tried. */
export interface Lock<G extends Grant = Grant, O extends WaitOptions = WaitOptions> {
  readonly path: string;
  acquire(options?: O): Promise<G>;
  tryAcquire(options?: { readonly signal?: AbortSignal }): Promise<G | null>;
}

/**
 * Runs work under a lock; if the lock was lost meanwhile, the work has failed, whatever its result.
 *
 * The release after the work is waited for without the caller's limits: the signal that the work
 * has heeded has aborted already, and others may have the lock when the call ends. The loss of the
 * session ends it.
 */
export async function useLease<T, G extends Grant, O extends WaitOptions>(
  lock: Pick<Lock<G, O>, "acquire">,
  work: (grant: G) => T | Promise<T>,
  options?: O,
): Promise<T> {
  checkArgument("use", "the work", work, rules.callable);
  await using grant = await lock.acquire(options);
  const result = await work(grant);
  if (grant.lostReason !== undefined) {
    throw new RecipeError("LEASE_LOST", `${grant.paths[0]} was lost while it was in use: ${grant.lostReason}`);
  }
  return result;
}

const OWNED: Shape<WaitOptions & { owner: unknown }> = shape({ ...WAIT, owner: rules.anything });

/**
 * The same for a lock that identifies owners by async context; an explicit owner needs no section.
 */
export async function useInSection<T, G extends Grant, O extends WaitOptions & { readonly owner?: unknown }>(
  lock: Pick<Lock<G, O>, "path" | "acquire">,
  sections: Sections | undefined,
  work: (grant: G) => T | Promise<T>,
  options?: O,
): Promise<T> {
  if (sections === undefined || options?.owner !== undefined) return useLease(lock, work, options);
  using deadline = new Deadline(options ?? {}, `acquire ${lock.path}`, OWNED);
  const { signal } = deadline;
  return await sections.run(signal, (owner) => useLease(lock, work, { ...options, owner, signal } as O));
}
