import { type Client, isZkError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { SimpleQueue } from "@zooid/recipes";
import { CliError } from "../../cli-error.ts";
import {
  type Command,
  clientFor,
  FLAG_TIMEOUT,
  type Invocation,
  malformed,
  operand,
  timeoutMs,
} from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { inOrder } from "../../subtree.ts";
import { dataJson, dataText } from "../../texts/data-text.ts";
import { checkedPath } from "../../texts/znode-path.ts";

/** The prefix of a SimpleQueue's items; other children are ignored. */
const ITEM = "qn-";

export const queue: Command = {
  name: "queue",
  synopsis: "put|take|peek|list [--timeout ms] path [data]",
  flags: [FLAG_TIMEOUT],
  summary:
    "Appends an item to a queue, takes the first or waits for one (--timeout 0: does not wait), shows the first, or lists all.",
  operandsMin: 2,
  operandsMax: 3,
  kind: "own",
  pathOperand: 1,
  async run(invocation) {
    const act = ACTIONS.get(operand(invocation, 0));
    if (act === undefined) throw malformed(queue);
    const path = checkedPath(operand(invocation, 1));
    return { path, ...(await act(invocation, await clientFor(invocation, path), path)) };
  },
};

type Action = (invocation: Invocation, client: Client, path: string) => Promise<JsonObject>;

async function put({ operands, output }: Invocation, client: Client, path: string): Promise<JsonObject> {
  await new SimpleQueue(client, path).offer(operands[2] ?? null);
  output.note(`Put into ${path}`);
  return {};
}

async function take({ flags, output, signal }: Invocation, client: Client, path: string): Promise<JsonObject> {
  const data = await new SimpleQueue(client, path).take({ signal, timeoutMs: timeoutMs(flags) });
  output.line(dataText(data));
  return dataJson(data);
}

async function peek({ output }: Invocation, client: Client, path: string): Promise<JsonObject> {
  const data = await new SimpleQueue(client, path).peek();
  if (data === null) throw new CliError(`Queue is empty: ${path}`, { code: "QUEUE_EMPTY", path });
  output.line(dataText(data));
  return dataJson(data);
}

async function list({ output, signal }: Invocation, client: Client, path: string): Promise<JsonObject> {
  const items: JsonObject[] = [];
  for (const name of await itemsOf(client, path, signal)) {
    const node = await client.getOrNull(joinPath(path, name), { signal });
    // Taken meanwhile.
    if (node === null) continue;
    output.line(`${name} ${dataText(node.data)}`);
    items.push({ name, ...dataJson(node.data) });
  }
  return { items };
}

const ACTIONS: ReadonlyMap<string, Action> = new Map(Object.entries({ put, take, peek, list }));

/** A queue that does not exist yet is empty. */
async function itemsOf(client: Client, path: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { names } = await client.children(path, { signal });
    return inOrder(names.filter((name) => name.startsWith(ITEM)));
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return [];
    throw error;
  }
}
