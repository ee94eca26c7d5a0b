import { startServer } from "../server.ts";
import type { StartOptions, ZooidServer } from "../server-api.ts";

/** A server for tests, on a port of the system's choice and in memory, and its log lines. */
export async function startTestServer(options: StartOptions = {}): Promise<ZooidServer & { readonly lines: string[] }> {
  const lines: string[] = [];
  const note = (text: string): void => {
    lines.push(text);
  };
  const server = await startServer({ port: 0, log: { info: note, warn: note, error: note }, ...options });
  return Object.assign(server, { lines });
}
