import { fork } from "node:child_process";
import { join } from "node:path";

/**
 * Runs one worker process until there are no tasks left.
 *
 * @param args arguments of `main.ts` after `--worker`
 */
export function workInProcess<Task extends object, Result>(
  args: readonly string[],
  take: () => Task | undefined,
  done: (result: Result) => void,
): Promise<void> {
  const worker = fork(join(import.meta.dirname, "main.ts"), ["--worker", ...args], {
    execArgv: ["--conditions=@zooid/source"],
  });
  return new Promise((resolve, reject) => {
    const hand = (): void => {
      const task = take();
      if (task === undefined) worker.disconnect();
      else worker.send(task);
    };
    worker.on("message", (result) => {
      done(result as Result);
      hand();
    });
    worker.on("error", reject);
    worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    hand();
  });
}
