/** Shared by the examples: a ZooKeeper, and processes of their own. */
import { type ChildProcess, fork } from "node:child_process";

export interface ZooKeeper extends AsyncDisposable {
  /** The argument of `connect`. */
  readonly connectString: string;
}

/** The ZooKeeper of the command line, HOST:PORT; else a server in memory. */
export async function zookeeper(): Promise<ZooKeeper> {
  const [connectString] = process.argv.slice(2);
  if (connectString !== undefined) return { connectString, [Symbol.asyncDispose]: () => Promise.resolve() };
  const { startServer } = await import("@zooid/embedded-server");
  return await startServer({ port: 0, tickMs: 250 });
}

/** Starts a file of this folder in a process of its own. */
export function startProcess(file: string, ...args: readonly string[]): ChildProcess {
  return fork(file, args);
}

/** Whether this process was started by another one of the example. */
export const isChild: boolean = process.send !== undefined;

if (isChild) {
  // Exits with its parent, and does not stay alive for the channel alone.
  process.once("disconnect", () => process.exit());
  process.channel?.unref();
}

/** Reports to the process that started this one. */
export function report(message: unknown): void {
  process.send?.(message);
}

/** Waits for the first report of a process that matches. */
export function reported<T>(child: ChildProcess, isIt: (message: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve, reject) => {
    child.on("message", (message: unknown) => {
      const said = message as T;
      if (isIt(said)) resolve(said);
    });
    child.once("exit", (code) => reject(new Error(`a process ended with ${code} before it reported`)));
  });
}
