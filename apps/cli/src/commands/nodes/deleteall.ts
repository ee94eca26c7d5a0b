import { type Client, isZkError, type ZkError } from "@zooid/client";
import { usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { listBreadthFirst } from "../../subtree.ts";
import { checkedPath } from "../../texts/znode-path.ts";

/** Deletes in one transaction, and transactions in flight; as in zkCli. */
const BATCH_SIZE = 1000;
const BATCHES_IN_FLIGHT_MAX = 10;

export const deleteall: Command = {
  name: "deleteall",
  synopsis: "path [-b batch size]",
  flags: [
    { name: "b", takesValue: true },
    { name: "dry-run", isOwn: true },
  ],
  summary: "Deletes a node and its descendants; --dry-run only counts.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const batchSize = readBatchSize(flags);
    const path = checkedPath(operand(invocation, 0));
    const client = await clientFor(invocation, path);
    const paths = await listBreadthFirst(client, path, signal);
    if (flags.has("dry-run")) {
      output.line(`${paths.length} ${paths.length === 1 ? "node" : "nodes"} would be deleted`);
      return { path, wouldDelete: paths.length };
    }
    const refusal = await deleteInBatches(client, paths.toReversed(), { batchSize, signal });
    if (refusal === undefined) return { path, deleted: paths.length };
    if (output.format === "json") throw refusal;
    // zkCli treats this as a message with status 0.
    output.note("Failed to delete some node(s) in the subtree!");
    return {};
  },
};

function readBatchSize(flags: Flags): number {
  const text = flags.value("b");
  if (text === undefined) return BATCH_SIZE;
  if (!/^[+-]?\d+$/.test(text)) throw usageError("-b argument must be an int value");
  return Math.max(1, Number(text));
}

interface Batching {
  readonly batchSize: number;
  readonly signal: AbortSignal;
}

/** @returns the first refusal: earlier batches are deleted, concurrent ones may be */
async function deleteInBatches(
  client: Client,
  paths: readonly string[],
  { batchSize, signal }: Batching,
): Promise<ZkError | undefined> {
  let refusal: ZkError | undefined;
  const inFlight = new Set<Promise<void>>();
  for (let at = 0; at < paths.length && refusal === undefined; at += batchSize) {
    const transaction = client.transaction();
    for (const path of paths.slice(at, at + batchSize)) transaction.delete(path);
    const batch: Promise<void> = transaction
      .commit({ signal })
      .then(
        () => undefined,
        (error: unknown) => {
          if (!isZkError(error) || error.outcome !== "rejected") throw error;
          refusal ??= error;
        },
      )
      .finally(() => inFlight.delete(batch));
    inFlight.add(batch);
    if (inFlight.size >= BATCHES_IN_FLIGHT_MAX) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  return refusal;
}
