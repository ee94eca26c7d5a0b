import { type Client, isZkError, type ZkError } from "@zooid/client";
import { usageError } from "../../cli-error.ts";
import { type Command, givenNode } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { ExitStatus } from "../../exit-status.ts";
import { NEVER_VERSION } from "../../never-version.ts";
import { listBreadthFirst } from "../../subtree.ts";

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
  summary: "Deletes a node and its descendants; --dry-run only checks and counts.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, shell, signal } = invocation;
    const batchSize = readBatchSize(flags);
    const { path, client } = await givenNode(invocation);
    const paths = await listBreadthFirst(client, path, signal);
    if (flags.has("dry-run")) {
      await demandDeletable(client, paths, signal);
      output.line(`${paths.length} ${paths.length === 1 ? "node" : "nodes"} would be deleted`);
      return { path, wouldDelete: paths.length };
    }
    const refusal = await deleteInBatches(client, paths.toReversed(), { batchSize, signal });
    if (refusal === undefined) return { path, deleted: paths.length };
    if (output.format === "json") throw refusal;
    // zkCli's message, though not its status, which is 0.
    output.note("Failed to delete some node(s) in the subtree!");
    shell.endsWith(ExitStatus.FAILED);
    return {};
  },
};

/** Requests in flight. */
const PROBES_MAX = 1000;

/**
 * Asks for each node with children whether one of them may be deleted: all have its permission.
 *
 * @throws the refusal
 */
async function demandDeletable(client: Client, paths: readonly string[], signal: AbortSignal): Promise<void> {
  const childOf = new Map<string, string>();
  for (const path of paths) childOf.set(path.slice(0, path.lastIndexOf("/")), path);
  const probes = [...childOf.values()];
  for (let at = 0; at < probes.length; at += PROBES_MAX)
    await Promise.all(probes.slice(at, at + PROBES_MAX).map((path) => demandDelete(client, path, signal)));
}

async function demandDelete(client: Client, path: string, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(path, { version: NEVER_VERSION, signal });
  } catch (error) {
    // The version is checked behind the permission. The node may be gone meanwhile.
    if (!isZkError(error, "BAD_VERSION") && !isZkError(error, "NO_NODE")) throw error;
  }
}

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
