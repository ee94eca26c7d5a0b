/** Requests to a target that are open at a time: one waits for the next, not for the network. */
const AT_A_TIME = 8;

/**
 * Does the same with each of many, some at a time.
 *
 * @throws the first failure, after those that were begun have ended
 */
export async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (const item of left) {
      if (failure !== undefined) return;
      await act(item).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  if (failure !== undefined) throw failure.error;
}
