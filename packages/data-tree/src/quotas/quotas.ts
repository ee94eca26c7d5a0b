import {
  type ByteSlice,
  emptySlice,
  lastSlash,
  StatOffset,
  sliceBeginsWith,
  sliceEquals,
  sliceOf,
  sliceText,
} from "@zooid/model";
import { NO_NODE, ROOT } from "../nodes/node-row.ts";
import type { NodeStore } from "../nodes/node-store.ts";
import type { QuotaExcess } from "../prepare/excess.ts";
import { formatQuotaText, parseQuotaText, type QuotaText } from "./quota-text.ts";
import type { VirtualNode, VirtualNodes } from "./virtual-nodes.ts";

const QUOTA_PATH = "/zookeeper/quota";
const SLASH = 0x2f;
const LIMITS: Readonly<ByteSlice> = sliceOf("zookeeper_limits");
const STATS: Readonly<ByteSlice> = sliceOf("zookeeper_stats");
const BELOW_QUOTA: Readonly<ByteSlice> = sliceOf(`${QUOTA_PATH}/`);
const LIMITS_OF_ALL: Readonly<ByteSlice> = sliceOf(`${QUOTA_PATH}/zookeeper_limits`);
const NO_LIMIT = -1;
/** A longer text of limits or usage is refused. Those that tools write have a hundred bytes. */
export const QUOTA_TEXT_BYTES_MAX = 1024;
/** Limits that are remembered; when there are more, all are forgotten. */
const PARSED_COUNT_MAX = 1024;
const NOTHING: readonly QuotaExcess[] = [];

/**
 * Counts of nodes and bytes below a quota, shown as the text of its stats node. Written only when
 * it is read.
 */
class Usage implements VirtualNode {
  readonly #text: QuotaText;
  #bytes: Uint8Array | undefined;

  constructor(text: QuotaText) {
    this.#text = text;
  }

  get text(): Readonly<QuotaText> {
    return this.#text;
  }

  get data(): Uint8Array {
    this.#bytes ??= Buffer.from(formatQuotaText(this.#text));
    return this.#bytes;
  }

  change(count: number, bytes: number): void {
    this.#text.count += count;
    this.#text.bytes += bytes;
    this.#bytes = undefined;
  }
}

/** The limits that a version of a node says; undefined where they cannot be read. */
interface ParsedLimits {
  readonly id: number;
  readonly version: number;
  readonly text: QuotaText | undefined;
}

/**
 * Quotas (section 10 of docs/reference/client-protocol.md). The quota of `/a/b` is the text of
 * `/zookeeper/quota/a/b/zookeeper_limits`, its usage that of `zookeeper_stats` beside it. Both are
 * ordinary nodes, so the tree below `/zookeeper/quota` is itself the table in which the deepest
 * quota above a path is found, step by step with the path; while it is empty a write costs one
 * comparison.
 */
export class Quotas {
  readonly #store: NodeStore;
  readonly #shown: VirtualNodes;
  readonly #data: ByteSlice = emptySlice();
  /** By the node that holds them. */
  readonly #limits = new Map<number, ParsedLimits>();
  #root: number = NO_NODE;

  constructor(store: NodeStore, shown: VirtualNodes) {
    this.#store = store;
    this.#shown = shown;
  }

  /**
   * The tree is there: finds where quotas are kept, and counts what each that is in force has used.
   */
  begin(): void {
    const store = this.#store;
    const { bytes, start, end } = sliceOf(QUOTA_PATH);
    this.#root = store.find(bytes, start, end);
    if (!this.#isInUse) return;
    for (let node = store.firstChild(this.#root); node !== NO_NODE; node = nextBelow(store, node, this.#root)) {
      if (this.#isNamed(node, STATS) && this.#limitsOf(store.parent(node)) !== NO_NODE) this.#recount(node);
    }
  }

  /** Whether a path would limit the whole tree, for which there are no quotas. */
  limitsAll(path: Readonly<ByteSlice>): boolean {
    return sliceEquals(path, LIMITS_OF_ALL);
  }

  /** Whether a path would hold the limits of a quota, or its usage. */
  isQuotaText({ bytes, start, end }: Readonly<ByteSlice>): boolean {
    const name = { bytes, start: lastSlash(bytes, start, end) + 1, end };
    if (!sliceEquals(name, LIMITS) && !sliceEquals(name, STATS)) return false;
    return sliceBeginsWith({ bytes, start, end }, BELOW_QUOTA);
  }

  /** A node was created: one for usage shows what is used from now on, and every one counts. */
  created(node: number, path: Readonly<ByteSlice>): void {
    if (!this.#isInUse) return;
    if (this.#isNamed(node, STATS) && this.#isBelowRoot(node)) this.#recount(node);
    this.count(path, 1, this.#store.statInt(node, StatOffset.dataLength));
  }

  /**
   * Adds to the usage of the quota above a path; the numbers are negative where it becomes less.
   */
  count(path: Readonly<ByteSlice>, nodes: number, bytes: number): void {
    if (!this.#isInUse) return;
    const quota = this.#find(path);
    const stats = quota === NO_NODE ? NO_NODE : this.#statsOf(quota);
    if (stats !== NO_NODE) this.#usageOf(stats).change(nodes, bytes);
  }

  /** How many bytes of data a client sees. */
  shownLength(node: number): number {
    return this.#shown.get(node)?.data.length ?? this.#store.statInt(node, StatOffset.dataLength);
  }

  /**
   * Checks a write against the applied state alone, as Apache does: proposed writes do not count.
   *
   * @param nodes how many more there would be; 0 where the write changes data
   * @returns what it would go beyond, or undefined where the limits cannot be read
   */
  judge(path: Readonly<ByteSlice>, nodes: number, bytes: number): readonly QuotaExcess[] | undefined {
    if (!this.#isInUse) return NOTHING;
    const quota = this.#find(path);
    if (quota === NO_NODE) return NOTHING;
    const limits = this.#parsedLimits(this.#limitsOf(quota));
    if (limits === undefined) return undefined;
    const stats = this.#statsOf(quota);
    if (stats === NO_NODE) return NOTHING;
    const used = this.#usageOf(stats).text;
    const excesses: QuotaExcess[] = [];
    const judgeOne = (unit: QuotaExcess["unit"], more: number, now: number, soft: number, hard: number): void => {
      const isHard = hard > NO_LIMIT;
      const limit = isHard ? hard : soft;
      if (more === 0 || limit <= NO_LIMIT || now + more <= limit) return;
      const path = sliceText(this.#limitedPath(quota));
      excesses.push({ kind: "quota", isHard, path, unit, limit, usage: now + more });
    };
    judgeOne("nodes", nodes, used.count, limits.count, limits.countHardLimit);
    judgeOne("bytes", bytes, used.bytes, limits.bytes, limits.byteHardLimit);
    return excesses;
  }

  get #isInUse(): boolean {
    return this.#root !== NO_NODE && this.#store.childCount(this.#root) > 0;
  }

  /**
   * The deepest node below `/zookeeper/quota` that holds limits for the path. None applies to all
   * of the tree.
   */
  #find({ bytes, start, end }: Readonly<ByteSlice>): number {
    const store = this.#store;
    let node = this.#root;
    let found: number = NO_NODE;
    let segment = start + 1;
    for (let i = segment; i <= end; i++) {
      if (i < end && bytes[i] !== SLASH) continue;
      node = store.child(node, bytes, segment, i);
      if (node === NO_NODE) break;
      if (this.#limitsOf(node) !== NO_NODE) found = node;
      segment = i + 1;
    }
    return found;
  }

  /**
   * The usage that is shown now, or follows from a client's text there; where that is no such text,
   * the true one.
   */
  #usageOf(stats: number): Usage {
    const shown = this.#shown.get(stats);
    if (shown instanceof Usage) return shown;
    const text = this.#textOf(stats);
    if (text === undefined) return this.#recount(stats);
    const usage = new Usage(text);
    this.#shown.show(stats, usage);
    return usage;
  }

  /**
   * Read once for each version: a write is judged by them, and the text may be one of before there
   * was a limit to it.
   */
  #parsedLimits(node: number): QuotaText | undefined {
    const id = this.#store.id(node);
    const version = this.#store.statInt(node, StatOffset.version);
    const known = this.#limits.get(node);
    if (known?.id === id && known.version === version) return known.text;
    const text = this.#textOf(node);
    if (this.#limits.size >= PARSED_COUNT_MAX) this.#limits.clear();
    this.#limits.set(node, { id, version, text });
    return text;
  }

  #textOf(node: number): QuotaText | undefined {
    if (!this.#store.hasData(node)) return undefined;
    this.#store.data(node, this.#data);
    return parseQuotaText(sliceText(this.#data));
  }

  #recount(stats: number): Usage {
    const usage = new Usage({ count: 0, bytes: 0, countHardLimit: -1, byteHardLimit: -1, rest: "" });
    const { bytes, start, end } = this.#limitedPath(this.#store.parent(stats));
    const top = this.#store.find(bytes, start, end);
    if (top !== NO_NODE) usage.change(1 + this.#store.descendantCount(top), this.#bytesFrom(top));
    this.#shown.show(stats, usage);
    return usage;
  }

  /**
   * The path that a quota is about: what its own has below `/zookeeper/quota`. Empty for the whole
   * tree.
   */
  #limitedPath(quota: number): ByteSlice {
    const length = this.#store.pathLength(quota);
    const bytes = Buffer.allocUnsafe(length);
    this.#store.writePath(quota, bytes, length);
    return { bytes, start: QUOTA_PATH.length, end: length };
  }

  /**
   * Counts bytes as stored. Usage texts that a server shows in place of stored data do not count.
   */
  #bytesFrom(top: number): number {
    return this.#store.statInt(top, StatOffset.dataLength) + this.#store.bytesBelow(top);
  }

  #limitsOf(quota: number): number {
    return this.#store.child(quota, LIMITS.bytes, LIMITS.start, LIMITS.end);
  }

  #statsOf(quota: number): number {
    return this.#store.child(quota, STATS.bytes, STATS.start, STATS.end);
  }

  #isNamed(node: number, name: Readonly<ByteSlice>): boolean {
    this.#store.name(node, this.#data);
    return sliceEquals(this.#data, name);
  }

  #isBelowRoot(node: number): boolean {
    for (let at = node; at !== ROOT; at = this.#store.parent(at)) if (at === this.#root) return true;
    return false;
  }
}

/**
 * The node behind another in a walk through everything below `top`, parents first; 0 at its end.
 */
function nextBelow(store: NodeStore, node: number, top: number): number {
  const child = store.firstChild(node);
  if (child !== NO_NODE) return child;
  for (let at = node; at !== top; at = store.parent(at)) {
    const sibling = store.nextSibling(at);
    if (sibling !== NO_NODE) return sibling;
  }
  return NO_NODE;
}
