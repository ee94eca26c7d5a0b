import { usageError } from "../../cli-error.ts";
import { type Command, givenNode, wholeNumber } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { shownText } from "../../texts/shown-text.ts";
import { noteForbidden, type WalkedNode, walk } from "../../walk.ts";

/** Rows of `--top` are kept until the end. */
const TOP_MAX = 10_000;

interface Usage {
  readonly path: string;
  readonly depth: number;
  nodes: number;
  ephemerals: number;
  bytes: number;
}

export const du: Command = {
  name: "du",
  synopsis: "[-d depth] [-h] [--top n] [path]",
  flags: [{ name: "d", takesValue: true }, { name: "h" }, { name: "top", takesValue: true, isOwn: true }],
  summary: "Prints bytes of data and nodes of each subtree down to a depth (-d, default 1); --top only the largest.",
  operandsMax: 1,
  kind: "own",
  runsProgram: true,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const depthMax = wholeNumber(flags, "d") ?? 1;
    const top = wholeNumber(flags, "top");
    if (top !== undefined && (top < 1 || top > TOP_MAX)) throw usageError(`--top takes 1 to ${TOP_MAX}, found ${top}`);
    const { path, client } = await givenNode(invocation, operands[0] ?? "/");
    const bytesText = flags.has("h") ? humanBytes : String;
    const print = (usage: Usage): void => {
      const ephemerals = usage.ephemerals === 0 ? "" : `\t${usage.ephemerals} ephemeral`;
      output.line(`${bytesText(usage.bytes)}\t${usage.nodes}\t${shownText(usage.path)}${ephemerals}`);
      output.json({ command: "du", item: usageJson(usage) });
    };
    const largest = new Largest(top ?? 0);
    const progress = new Progress(output, "visited");
    const sums = new OpenSums(depthMax, (usage) => (top === undefined ? print(usage) : largest.take(usage)));
    for await (const node of walk(client, path, { detail: "stats", signal })) {
      progress.step(node.path);
      sums.take(node);
    }
    const total = sums.end();
    for (const usage of largest.inOrder) print(usage);
    noteForbidden(output, sums.forbidden, ["; its subtree is missing above", "; their subtrees are missing above"]);
    return { ...(total === undefined ? { path } : usageJson(total)), forbidden: sums.forbidden };
  },
};

/**
 * The sums of the node in hand and its ancestors; one is complete when the walk leaves its subtree.
 */
class OpenSums {
  forbidden = 0;
  readonly #depthMax: number;
  readonly #complete: (usage: Usage) => void;
  readonly #open: Usage[] = [];

  constructor(depthMax: number, complete: (usage: Usage) => void) {
    this.#depthMax = depthMax;
    this.#complete = complete;
  }

  take({ path, depth, stat }: WalkedNode): void {
    if (stat === null) this.forbidden++;
    while ((this.#open.at(-1)?.depth ?? -1) >= depth) this.#close();
    if (depth <= this.#depthMax) this.#open.push({ path, depth, nodes: 0, ephemerals: 0, bytes: 0 });
    const sum = this.#open.at(-1);
    if (sum === undefined) return;
    sum.nodes++;
    sum.bytes += stat?.dataLength ?? 0;
    if (stat !== null && stat.ephemeralOwner !== 0n) sum.ephemerals++;
  }

  /** @returns the sum of the first node */
  end(): Usage | undefined {
    const [first] = this.#open;
    while (this.#open.length > 0) this.#close();
    return first;
  }

  #close(): void {
    const usage = this.#open.pop();
    if (usage === undefined) return;
    const parent = this.#open.at(-1);
    if (parent !== undefined) {
      parent.nodes += usage.nodes;
      parent.ephemerals += usage.ephemerals;
      parent.bytes += usage.bytes;
    }
    this.#complete(usage);
  }
}

/** The n largest by bytes, then by nodes. */
class Largest {
  readonly #count: number;
  readonly inOrder: Usage[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  take(usage: Usage): void {
    const last = this.inOrder.at(-1);
    if (this.inOrder.length >= this.#count && last !== undefined && bySize(usage, last) >= 0) return;
    const at = this.inOrder.findIndex((kept) => bySize(usage, kept) < 0);
    this.inOrder.splice(at === -1 ? this.inOrder.length : at, 0, usage);
    if (this.inOrder.length > this.#count) this.inOrder.pop();
  }
}

function bySize(a: Usage, b: Usage): number {
  return b.bytes - a.bytes || b.nodes - a.nodes;
}

function usageJson({ path, nodes, ephemerals, bytes }: Usage): JsonObject {
  return { path, bytes, nodes, ephemerals };
}

export function humanBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}
