import { type Client, isZkError } from "@zooid/client";
import { parentPath } from "@zooid/model";
import { type Command, clientFor, operand } from "../../command.ts";
import { dataText } from "../../texts/data-text.ts";
import { formatQuota, limitsPath, parseQuota, QUOTA_ROOT, statsPath } from "../../texts/quota-record.ts";
import { checkedPath } from "../../texts/znode-path.ts";
import { chosenLimit, LIMIT_FLAGS } from "./setquota.ts";

export const delquota: Command = {
  name: "delquota",
  synopsis: "[-n|-b|-N|-B] path",
  flags: LIMIT_FLAGS.map(({ name }) => ({ name, group: "limit" })),
  summary: "Removes one limit, or the whole quota.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { output, signal } = invocation;
    const path = operand(invocation, 0);
    const limits = checkedPath(limitsPath(path));
    const client = await clientFor(invocation, limits);
    const found = await client.getOrNull(limits, { signal });
    if (found === null) {
      output.line(`Quota does not exist for ${path}`);
      return { path, quota: null };
    }
    const record = parseQuota(dataText(found.data), limits);
    const limit = chosenLimit(invocation.flags);
    if (limit !== undefined) {
      const remaining = { ...record, [limit.field]: -1 };
      await client.set(limits, formatQuota(remaining), { signal });
      return { path, quota: remaining };
    }
    await client.delete(statsPath(path), { missingOk: true, signal });
    await client.delete(limits, { missingOk: true, signal });
    await trim(client, parentPath(limits), signal);
    return { path, quota: null };
  },
};

/** Deletes the node of a removed quota, and its empty ancestors. */
async function trim(client: Client, path: string, signal: AbortSignal): Promise<void> {
  for (let at = path; at !== QUOTA_ROOT && at !== "/"; at = parentPath(at)) {
    try {
      const { names } = await client.children(at, { signal });
      if (names.length > 0) return;
      await client.delete(at, { signal });
    } catch (error) {
      // Another client was faster.
      if (!isZkError(error, "NO_NODE") && !isZkError(error, "NOT_EMPTY")) throw error;
    }
  }
}
