import { RecipeError } from "../recipe-error.ts";
import { Deadline, type WaitOptions } from "./deadline.ts";
import type { Grant } from "./lease.ts";
import type { Sections } from "./sections.ts";

/** Whatever can be waited for and had at once. */
export interface Lock<G extends Grant = Grant, O extends WaitOptions = WaitOptions> {
  readonly path: string;
  acquire(options?: O): Promise<G>;
  tryAcquire(options?: { readonly signal?: AbortSignal }): Promise<G | null>;
}

/** Does some work under a lock; work under a lock that was lost meanwhile has failed, whatever it has to say. */
export async function useLease<T, G extends Grant, O extends WaitOptions>(
  lock: Pick<Lock<G, O>, "acquire">,
  work: (grant: G) => T | Promise<T>,
  options?: O,
): Promise<T> {
  await using grant = await lock.acquire(options);
  const result = await work(grant);
  if (grant.lostReason !== undefined) {
    throw new RecipeError("LEASE_LOST", `${grant.paths[0]} was lost while it was in use: ${grant.lostReason}`);
  }
  return result;
}

/** The same for a lock that knows by where it is called from who holds it already; an owner that says who it is needs no section. */
export async function useInSection<T, G extends Grant, O extends WaitOptions & { readonly owner?: unknown }>(
  lock: Pick<Lock<G, O>, "path" | "acquire">,
  sections: Sections | undefined,
  work: (grant: G) => T | Promise<T>,
  options?: O,
): Promise<T> {
  if (sections === undefined || options?.owner !== undefined) return useLease(lock, work, options);
  using deadline = new Deadline(options ?? {}, `acquire ${lock.path}`);
  const { signal } = deadline;
  return await sections.run(signal, (owner) => useLease(lock, work, { ...options, owner, signal } as O));
}
