import { connect } from "node:net";
import type { Host } from "./hosts.ts";

const DEADLINE_MS = 5000;

/**
 * Asks a server one of its four-letter words.
 *
 * @returns the answer; empty when it closed without one
 */
export function askWord(host: Host, word: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: host.name, port: host.port });
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error(`no answer to ${word} within ${DEADLINE_MS} ms`)));
  let answer = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    answer += chunk;
  });
  socket.on("error", reject);
  socket.on("close", () => resolve(answer));
  socket.write(word);
  return promise;
}
