import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const THREADS = "/proc/self/task";
const NAME = "V8Worker\n";
/**
 * Not lower: under a load that leaves no core free, marking would fall behind and the heap would
 * grow.
 */
const NICE = 5;

/**
 * Lowers the priority of the threads in which V8 compiles code and collects garbage. They have the
 * most to do while a server warms up, when clients wait for the main thread. Linux only.
 *
 * @param threads the directory that the system lists threads in
 */
export function lowerV8Threads(threads: string = THREADS): void {
  if (!existsSync(threads)) return;
  try {
    for (const thread of readdirSync(threads)) {
      if (readFileSync(`${threads}/${thread}/comm`, "utf8") !== NAME) continue;
      const id = Number(thread);
      if (getPriority(id) < NICE) setPriority(id, NICE);
    }
  } catch {
    // A sandbox may refuse it. The server is only slower to warm up.
  }
}
