/** Folds a CPU profile of a server's main thread into the layers that a write passes through. */

/**
 * As much as is used here of what `node --cpu-prof` writes. Times are microseconds of the system's
 * monotonic clock.
 */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export const IDLE = "idle";
const NATIVE = "Node.js and native code: kernel receive, polling, timers";

/** The first that fits a frame wins; a frame that none fits counts for its caller. */
const LAYERS: readonly (readonly [layer: string, url: RegExp, name: RegExp])[] = [
  [IDLE, /^$/, /^\(idle\)$/],
  // A thread that waits on shared memory is asleep.
  [IDLE, /^$/, /^(wait|waitAsync)$/],
  ["collector", /^$/, /^\(garbage collector\)$/],
  ["kernel send", /^$/, /^(write(Buffer|v|Latin1String|Utf8String|UcsString|AsciiString)|send)$/],
  ["log hand-over", /^$/, /^notify$/],
  ["prepare", /data-tree\/.*\/(prepare|quotas)\//, /./],
  ["apply", /data-tree\/.*\/(apply-|digest|watches\/|sessions\/)/, /./],
  ["log hand-over", /txn-log\//, /./],
  ["links: peer frames and sockets", /server\/.*\/peers\/|peer-protocol\/|protobufjs\//, /./],
  ["encode the transaction", /wire\/.*\/txn-codec/, /./],
  ["reply", /wire\/.*\/(reply-|watcher-event)/, /./],
  ["wire decode", /wire\/.*\/(request-|framer|multi-codec|handshake)|server\/.*\/client-(connection|listener)/, /./],
  ["zab", /zab\//, /./],
  ["replica: order, gate, forwarding", /replica\//, /./],
  ["server: the loop", /packages\/server\//, /./],
  ["Node.js: streams and ticks", /^node:/, /./],
];
/** Only where nothing else called it: most of these are what a layer above uses. */
const FALLBACKS: readonly (readonly [layer: string, url: RegExp])[] = [
  ["tree", /data-tree\//],
  ["wire, other", /wire\//],
  ["model", /model\//],
];

/** Sums samples by layer, in microseconds, within a time of the monotonic clock. */
export function layersOf(
  profile: CpuProfile,
  { fromUs = Number.NEGATIVE_INFINITY, toUs = Number.POSITIVE_INFINITY }: { fromUs?: number; toUs?: number } = {},
): ReadonlyMap<string, number> {
  const layers = layerOfNodes(profile.nodes);
  const sums = new Map<string, number>();
  let atUs = profile.startTime;
  for (const [i, id] of profile.samples.entries()) {
    // A sample stands for the time until the next one.
    atUs += profile.timeDeltas[i] ?? 0;
    const spanUs = profile.timeDeltas[i + 1] ?? 0;
    if (atUs < fromUs || atUs >= toUs) continue;
    const layer = layers.get(id) ?? NATIVE;
    sums.set(layer, (sums.get(layer) ?? 0) + spanUs);
  }
  return sums;
}

function layerOfNodes(nodes: readonly ProfileNode[]): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const layers = new Map<number, string>();
  const visit = (node: ProfileNode, caller: string): void => {
    const layer = layerOf(node, caller);
    layers.set(node.id, layer);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) visit(child, layer);
    }
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, NATIVE);
  return layers;
}

function layerOf({ callFrame: { functionName, url } }: ProfileNode, caller: string): string {
  // Without this, a function that Node.js calls would count as Node.js; with it, what a layer calls
  // in Node.js counts as the layer's.
  if (functionName === "(program)" || functionName === "(root)") return NATIVE;
  const own = LAYERS.find(([, place, name]) => place.test(url) && name.test(functionName))?.[0];
  if (own !== undefined) return own;
  if (caller !== NATIVE && !caller.startsWith("Node.js")) return caller;
  return FALLBACKS.find(([, place]) => place.test(url))?.[0] ?? caller;
}
