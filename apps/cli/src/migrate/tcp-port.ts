import { connect, isIP } from "node:net";
import { parseConnectString, startTimer } from "@zooid/client";

/**
 * Whether a port takes connections, refuses them, or does neither within a time: then nothing is
 * known about it.
 */
export type PortState = "open" | "refused" | "silent";

export function portState(address: string, withinMs: number): Promise<PortState> {
  const [place] = parseConnectString(address).hosts;
  if (place === undefined) return Promise.resolve("silent");
  const { host, port } = place;
  return new Promise((resolve) => {
    const socket = connect({ host, port, ...(isIP(host) === 0 ? {} : { family: isIP(host) }) });
    const end = (state: PortState): void => {
      late.cancel();
      socket.destroy();
      resolve(state);
    };
    const late = startTimer(Math.max(1, Math.ceil(withinMs)), () => end("silent"));
    socket.on("connect", () => end("open"));
    socket.on("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED" ? "refused" : "silent"));
  });
}
