/**
 * `DEBUG=zooid:*`: prints the events of every client of this process, by subscribing to its
 * channels of `node:diagnostics_channel`; without that variable nothing is subscribed.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ConnectionMessage, ResponseMessage, StallMessage, StateMessage, WatchMessage } from "./diagnostics.ts";

interface Line {
  readonly channel: string;
  readonly namespace: string;
  textOf(message: never): string;
}

const LINES: readonly Line[] = [
  {
    channel: "zk:client:connection",
    namespace: "zooid:client:connection",
    textOf: ({ kind, server, error }: ConnectionMessage) => `${kind} ${error?.message ?? server}`,
  },
  {
    channel: "zk:client:state",
    namespace: "zooid:client:state",
    textOf: ({ state }: StateMessage) => ("server" in state ? `${state.kind} ${state.server}` : state.kind),
  },
  {
    channel: "zk:client:stall",
    namespace: "zooid:client:state",
    textOf: ({ lateMs }: StallMessage) => `the event loop was blocked for ${Math.round(lateMs)} ms`,
  },
  {
    channel: "zk:client:watch",
    namespace: "zooid:client:watch",
    textOf: ({ event }: WatchMessage) => `${event.type} ${event.path}`,
  },
  {
    channel: "zk:client:response",
    namespace: "zooid:client:call",
    textOf: ({ request, durationMs, error }: ResponseMessage) =>
      `${request.op} ${request.path} ${durationMs.toFixed(1)} ms${error === undefined ? "" : `: ${error}`}`,
  },
];

/**
 * Prints the namespaces that a value of `DEBUG` selects: names separated by commas or spaces, `*`
 * for any text, and `-` before a name that is left out.
 *
 * @returns ends the output
 */
export function printDebug(names: string, write: (line: string) => void): () => void {
  const isSelected = selectorOf(names);
  const subscribed = LINES.filter(({ namespace }) => isSelected(namespace)).map(({ channel, namespace, textOf }) => {
    const print = (message: unknown): void => write(`${namespace} ${textOf(message as never)}\n`);
    subscribe(channel, print);
    return () => unsubscribe(channel, print);
  });
  return () => {
    for (const end of subscribed) end();
  };
}

let isStarted = false;

/** Starts the output that the environment asks for, once in a process. */
export function startDebugOutput(): void {
  if (isStarted) return;
  isStarted = true;
  const names = process.env["DEBUG"];
  if (names === undefined || names === "") return;
  printDebug(names, (line) => process.stderr.write(`${new Date().toISOString()} ${line}`));
}

function selectorOf(names: string): (namespace: string) => boolean {
  const patterns = names.split(/[\s,]+/).filter((name) => name !== "");
  const wanted = patterns.filter((pattern) => !pattern.startsWith("-"));
  const unwanted = patterns.filter((pattern) => pattern.startsWith("-")).map((pattern) => pattern.slice(1));
  return (namespace) =>
    wanted.some((pattern) => matches(pattern, namespace)) && !unwanted.some((pattern) => matches(pattern, namespace));
}

/** @param pattern `*` stands for any text */
function matches(pattern: string, namespace: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return namespace === pattern;
  if (!namespace.startsWith(first) || !namespace.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = namespace.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= namespace.length - last.length;
}
