import type { Bench } from "../bench.ts";
import type { Host } from "../connections/hosts.ts";
import type { BenchTree } from "../tree.ts";
import { UsageError } from "../usage-error.ts";

/** The only list of hosts that a workload takes. */
export function onlyHosts({ hosts }: Bench, workload: string): readonly Host[] {
  const [only, ...others] = hosts;
  if (only === undefined || others.length > 0) throw new UsageError(`${workload} takes one --hosts list`);
  return only;
}

/** Opens the tree of a run on some servers. */
export function treeOn(bench: Bench, hosts: readonly Host[]): Promise<BenchTree> {
  bench.phase("connecting");
  return bench.openTree({ hosts, root: bench.config.root, sessionTimeoutMs: bench.config.sessionTimeoutMs });
}

/** Makes a node with nodes below it. @returns its path */
export async function filled(
  bench: Bench,
  tree: BenchTree,
  { name, count, payloadBytes }: { readonly name: string; readonly count: number; readonly payloadBytes: number },
): Promise<string> {
  const parent = await tree.create(name);
  const onProgress = bench.phase(`creating ${count} nodes`, { count, unit: "nodes" });
  await tree.fill(parent, { count, payloadBytes, onProgress });
  return parent;
}
