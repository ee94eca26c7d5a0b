import { createHook } from "node:async_hooks";

/** How many timers are made while something runs. */
export async function timersOf(work: () => Promise<void>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "Timeout") count++;
    },
  }).enable();
  await work();
  hook.disable();
  return count;
}
