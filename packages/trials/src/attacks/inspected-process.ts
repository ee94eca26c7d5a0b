/**
 * The live memory of another Node.js process: what is left after a full collection.
 *
 * A process that allocates steadily grows until V8 starts a full collection, which may take an hour
 * to come. Its resident memory between two of them says nothing about a leak; live memory does. The
 * process is asked by its inspector, which listens on loopback, on a port that the system chooses.
 */

const MIB = 1024 * 1024;
const ANSWER_DEADLINE_MS = 60_000;
const LISTENING = /^Debugger listening on (ws:\S+)$/gm;

/** The environment of a process that can be asked for its live memory. */
export const INSPECTED: Readonly<Record<string, string>> = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/**
 * The address of a process's inspector, from what the process wrote to stderr. The last one counts:
 * a launcher that the server replaces has had one, too.
 */
export function inspectorAddress(log: string): string {
  const address = [...log.matchAll(LISTENING)].at(-1)?.[1];
  if (address === undefined) throw new Error(`no inspector listens; the log has:\n${log}`);
  return address;
}

/**
 * Lets the process collect all its garbage.
 *
 * @returns objects and buffers of its main thread that are in use, in MiB
 */
export async function liveMiB(address: string): Promise<number> {
  using inspector = await Inspector.connect(address);
  await inspector.ask("HeapProfiler.collectGarbage");
  return (await numberOf(inspector, MEMORY)) / MIB;
}

/** How many handles and requests keep the process's event loop: sockets, timers, threads. */
export async function activeResources(address: string): Promise<number> {
  using inspector = await Inspector.connect(address);
  return await numberOf(inspector, "process.getActiveResourcesInfo().length");
}

const MEMORY = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

async function numberOf(inspector: Inspector, expression: string): Promise<number> {
  const { result } = (await inspector.ask("Runtime.evaluate", { expression, returnByValue: true })) as {
    readonly result: { readonly value?: unknown };
  };
  if (typeof result.value !== "number") throw new Error(`the inspector answered ${JSON.stringify(result)}`);
  return result.value;
}

/** One question at a time over the inspector's WebSocket. */
class Inspector implements Disposable {
  readonly #socket: WebSocket;
  #id = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async connect(address: string): Promise<Inspector> {
    const socket = new WebSocket(address);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const failed = (): void => reject(new Error(`cannot connect to the inspector at ${address}`));
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", failed, { once: true });
    socket.addEventListener("close", failed, { once: true });
    await promise;
    return new Inspector(socket);
  }

  /**
   * @throws when the connection closes, the inspector refuses, or no answer comes within a minute
   */
  async ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#id;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const listening = new AbortController();
    const { signal } = listening;
    const deadline = setTimeout(() => reject(new Error(`no answer to ${method}`)), ANSWER_DEADLINE_MS);
    this.#socket.addEventListener("close", () => reject(new Error(`connection lost during ${method}`)), { signal });
    this.#socket.addEventListener(
      "message",
      (event: MessageEvent) => {
        const answer = JSON.parse(String(event.data)) as InspectorMessage;
        if (answer.id !== id) return;
        if (answer.error === undefined) resolve(answer.result);
        else reject(new Error(`${method}: ${answer.error.message}`));
      },
      { signal },
    );
    try {
      this.#socket.send(JSON.stringify({ id, method, params }));
      return await promise;
    } finally {
      clearTimeout(deadline);
      listening.abort();
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

interface InspectorMessage {
  /** The id of the question; events have none. */
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}
