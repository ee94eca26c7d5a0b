/**
 * A reading that takes system calls, and is taken again once it is so old: however often it is
 * asked for, it costs as much.
 */
export function keptFor<T>(ms: number, read: () => T, now: () => number = () => performance.now()): () => T {
  let last: { readonly value: T; readonly atMs: number } | undefined;
  return () => {
    const atMs = now();
    if (last === undefined || atMs - last.atMs >= ms) last = { value: read(), atMs };
    return last.value;
  };
}
