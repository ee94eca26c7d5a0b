import type { Client } from "@zooid/client";
import { joinPath } from "@zooid/model";
import type { ContenderForm } from "../locks/child-names.ts";
import { queued } from "../locks/lock-queue.ts";
import { eachOf } from "../nodes/each-of.ts";

/** A contender in the queue. */
export interface Participant {
  readonly path: string;
  readonly data: Uint8Array | null;
}

/**
 * The contenders below a path, first come first; those that leave while they are read are skipped.
 */
export async function participantsOf(
  zk: Client,
  path: string,
  form: ContenderForm = "lock",
): Promise<readonly Participant[]> {
  const paths = (await queued(zk, path, { form })).map((name) => joinPath(path, name));
  const nodes = await eachOf(paths, (node) => zk.getOrNull(node));
  return paths.flatMap((path, i) => {
    const node = nodes[i];
    return node === null || node === undefined ? [] : [{ path, data: node.data }];
  });
}
