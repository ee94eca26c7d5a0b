import { once } from "node:events";
import { startThread } from "../thread.ts";
import type { NullServerOptions } from "./null-server.ts";

export interface NullServerThread extends AsyncDisposable {
  readonly port: number;
}

/**
 * Runs a null server in a thread of its own, so that it and the generator do not block each other.
 */
export async function startNullServer(options: Partial<NullServerOptions> = {}): Promise<NullServerThread> {
  const defaults = { port: 0, payloadBytes: 0, children: 0, freeze: undefined };
  const thread = startThread("null-server/null-server-worker", { ...defaults, ...options });
  // An error of the thread, such as a port in use, rejects this.
  const [port]: unknown[] = await once(thread, "message");
  return {
    port: Number(port),
    async [Symbol.asyncDispose](): Promise<void> {
      await thread.terminate();
    },
  };
}
