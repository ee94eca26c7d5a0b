import { once } from "node:events";

/** An answer of Node.js' inspector that is needed here. */
interface InspectorTarget {
  readonly webSocketDebuggerUrl: string;
}

/**
 * Stops the main thread of a Node.js process that was started with `--inspect=127.0.0.1:PORT`; its
 * other threads run on.
 *
 * @returns a call that lets it run again
 */
export async function pauseMainThread(port: number): Promise<() => void> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await answer.json()) as readonly InspectorTarget[];
  if (target === undefined) throw new Error(`nothing can be paused at the inspector's port ${port}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, "open");
  const paused = Promise.withResolvers<void>();
  socket.addEventListener("message", ({ data }) => {
    if (String(data).includes('"Debugger.paused"')) paused.resolve();
  });
  socket.send(JSON.stringify({ id: 1, method: "Debugger.enable" }));
  socket.send(JSON.stringify({ id: 2, method: "Debugger.pause" }));
  await paused.promise;
  return () => {
    socket.send(JSON.stringify({ id: 3, method: "Debugger.resume" }));
    socket.send(JSON.stringify({ id: 4, method: "Debugger.disable" }));
    socket.close();
  };
}
