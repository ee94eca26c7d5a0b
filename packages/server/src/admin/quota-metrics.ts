import { type DataTree, parseQuotaText, type QuotaText } from "@zooid/data-tree";
import { sliceText } from "@zooid/model";
import { NAMESPACE_CHARS_MAX } from "@zooid/replica";
import type { Metric } from "./metric.ts";

const QUOTA = "/zookeeper/quota";
const LIMITS = "zookeeper_limits";
const STATS = "zookeeper_stats";
const EXCEEDED = "quota_exceeded_error_per_namespace";
/** Nodes below the quotas' root visited for one answer: clients make as many as they like. */
const VISITS_MAX = 2000;

interface Sums {
  countLimit: number;
  bytesLimit: number;
  countUsage: number;
  bytesUsage: number;
}

/**
 * Limits and usage of quotas, summed by the first name of their path. A hard limit is shown before
 * a soft one.
 */
export function quotaMetrics(tree: DataTree): readonly Metric[] {
  const sums = sumsByNamespace(tree);
  if (sums.size === 0) return [];
  const set = (name: string, of: (sums: Sums) => number): Metric => ({
    kind: "gauge set",
    name: `quota_${name}_per_namespace`,
    values: [...sums].map(([namespace, one]) => [namespace, of(one)]),
  });
  return [
    set("count_limit", ({ countLimit }) => countLimit),
    set("bytes_limit", ({ bytesLimit }) => bytesLimit),
    set("count_usage", ({ countUsage }) => countUsage),
    set("bytes_usage", ({ bytesUsage }) => bytesUsage),
  ];
}

/** Writes refused by a hard quota, by the first name of their path. */
export function quotaRefusals(counts: ReadonlyMap<string, number>): readonly Metric[] {
  return counts.size === 0 ? [] : [{ kind: "counter set", name: EXCEEDED, values: [...counts] }];
}

function sumsByNamespace(tree: DataTree): ReadonlyMap<string, Sums> {
  const found = new Map<string, Sums>();
  const open = [QUOTA];
  for (let visits = 0; open.length > 0 && visits < VISITS_MAX; ) {
    const path = open.pop() ?? QUOTA;
    const names = childrenOf(tree, path, VISITS_MAX - visits);
    visits += names.length;
    for (const name of names) {
      if (name === LIMITS || name === STATS) add(found, path, name, textOf(tree, `${path}/${name}`));
      else open.push(`${path}/${name}`);
    }
  }
  return found;
}

function add(found: Map<string, Sums>, path: string, name: string, text: string): void {
  const quota = parseQuotaText(text);
  const namespace = path.slice(QUOTA.length + 1).split("/", 1)[0] ?? "";
  if (quota === undefined || namespace === "" || namespace.length > NAMESPACE_CHARS_MAX) return;
  const sums = found.get(namespace) ?? { countLimit: 0, bytesLimit: 0, countUsage: 0, bytesUsage: 0 };
  found.set(namespace, sums);
  if (name === LIMITS) addLimits(sums, quota);
  else {
    sums.countUsage += quota.count;
    sums.bytesUsage += quota.bytes;
  }
}

function addLimits(sums: Sums, { count, bytes, countHardLimit, byteHardLimit }: QuotaText): void {
  sums.countLimit += countHardLimit > -1 ? countHardLimit : count;
  sums.bytesLimit += byteHardLimit > -1 ? byteHardLimit : bytes;
}

function childrenOf(tree: DataTree, path: string, most: number): readonly string[] {
  const node = nodeAt(tree, path);
  if (node === 0) return [];
  const view = tree.view(node);
  const names: string[] = [];
  for (let more = view.firstChild(); more && names.length < most; more = view.nextChild())
    names.push(sliceText(view.childName));
  return names;
}

function textOf(tree: DataTree, path: string): string {
  const node = nodeAt(tree, path);
  return node === 0 ? "" : sliceText(tree.view(node).data);
}

function nodeAt(tree: DataTree, path: string): number {
  const bytes = Buffer.from(path);
  return tree.find(bytes, 0, bytes.length);
}
