/**
 * Requests and answers of clients of an ensemble, and the check whether they are consistent.
 *
 * Every reply carries a zxid, so no search is needed: the writes that were answered are sorted by
 * it, and everything else must agree with that order. A write without an answer may have happened
 * or not, but only once. All times are of one clock, that of the process which runs all the
 * clients.
 */

/** Nanoseconds of the machine's monotonic clock. */
export type Nanos = bigint;

interface Asked {
  readonly client: string;
  /** Id of the server that the client was connected to. */
  readonly sid: number;
  readonly sentAt: Nanos;
  answeredAt?: Nanos;
  /** As the reply said it. */
  zxid?: bigint;
}

/** The outcome of a write: refused ones did not happen, unknown ones may have. */
export type Outcome = "unknown" | "done" | "refused";

export interface Write extends Asked {
  readonly kind: "set" | "create";
  /** The node that is set; or the parent of a sequential node. */
  readonly path: string;
  /** No two writes have the same. */
  readonly value: string;
  outcome: Outcome;
  /** For a set that was done: the node's version. */
  version?: number;
  /** For a create that was done: the path with its number. */
  createdPath?: string;
}

export interface Read extends Asked {
  readonly path: string;
  /** When the sync before it was sent, if there was one. */
  readonly syncSentAt: Nanos | undefined;
  value: string;
  mzxid: bigint;
  version: number;
}

/** A node as a server shows it. */
export interface Found {
  readonly value: string;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly version: number;
}

/** The nodes that one server held when all was quiet, by path. */
export type Tree = ReadonlyMap<string, Found>;

export interface History {
  /** How the nodes that are set stood before. */
  readonly base: Tree;
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
}

/** Everything that is wrong; empty for a history that can be. `trees` is by server. */
export function faultsIn(history: History, trees: ReadonlyMap<number, Tree>): readonly string[] {
  const [first] = trees.values();
  if (first === undefined) return ["no server was read"];
  return [
    ...differences(trees),
    ...zxidFaults(history.writes),
    ...setFaults(history, first),
    ...createFaults(history, first),
    ...readFaults(history),
  ];
}

/** All servers hold the same. */
export function differences(trees: ReadonlyMap<number, Tree>): readonly string[] {
  const [[firstSid, first] = [0, new Map<string, Found>()] as const, ...others] = trees;
  return others.flatMap(([sid, tree]) => {
    const paths = new Set([...first.keys(), ...tree.keys()]);
    const different = [...paths].filter((path) => !isSame(first.get(path), tree.get(path)));
    const [path = ""] = different;
    if (different.length === 0) return [];
    const [here, there] = [describe(first.get(path)), describe(tree.get(path))];
    return [`servers ${firstSid} and ${sid} differ in ${different.length} nodes, as in ${path}: ${here}, ${there}`];
  });
}

function isSame(a: Found | undefined, b: Found | undefined): boolean {
  return a?.value === b?.value && a?.czxid === b?.czxid && a?.mzxid === b?.mzxid && a?.version === b?.version;
}

/**
 * Each write has a zxid of its own, and one that was answered before another was sent comes before
 * it.
 */
function zxidFaults(writes: readonly Write[]): readonly string[] {
  const faults: string[] = [];
  const done = doneByZxid(writes);
  for (const [index, write] of done.entries()) {
    const next = done[index + 1];
    if (next !== undefined && next.zxid === write.zxid) faults.push(`${name(write)} and ${name(next)} share a zxid`);
  }
  // Downwards: the earliest answer among all with a higher zxid.
  let earliest: Done | undefined;
  for (const write of done.toReversed()) {
    if (earliest !== undefined && earliest.answeredAt < write.sentAt) {
      faults.push(`${name(earliest)} was answered before ${name(write)} was sent, which has a lower zxid`);
    }
    if (earliest === undefined || write.answeredAt < earliest.answeredAt) earliest = write;
  }
  return faults;
}

/**
 * Every node that is set went through the answered writes in order of zxid, each raising its
 * version.
 */
function setFaults({ base, writes }: History, tree: Tree): readonly string[] {
  const faults: string[] = [];
  for (const [path, before] of base) {
    const here = writes.filter((write) => write.kind === "set" && write.path === path);
    const found = tree.get(path);
    if (found === undefined) {
      faults.push(`${path} is gone`);
      continue;
    }
    const done = doneByZxid(here);
    let version = before.version;
    for (const write of done) {
      if (write.version === undefined || write.version <= version) {
        faults.push(`${name(write)} made version ${write.version}, after version ${version}`);
      }
      version = write.version ?? version;
    }
    const effects = found.version - before.version;
    const unknownCount = here.filter(({ outcome }) => outcome === "unknown").length;
    if (effects < done.length || effects > done.length + unknownCount) {
      faults.push(`${path} was set ${effects} times, with ${done.length} writes answered and ${unknownCount} unknown`);
    }
    faults.push(...lastValueFaults(path, { done, before, here, found }));
  }
  return faults;
}

function lastValueFaults(
  path: string,
  seen: {
    readonly done: readonly Done[];
    readonly before: Found;
    readonly here: readonly Write[];
    readonly found: Found;
  },
): readonly string[] {
  const { done, before, here, found } = seen;
  const last = done.at(-1);
  const expected = last === undefined ? before : { value: last.value, mzxid: last.zxid };
  if (found.mzxid < expected.mzxid) return [`${path} lost ${last === undefined ? "its value" : name(last)}`];
  if (found.mzxid === expected.mzxid) {
    return found.value === expected.value ? [] : [`${path} holds ${found.value} where ${expected.value} was written`];
  }
  const isPossible = here.some(({ value, outcome }) => outcome === "unknown" && value === found.value);
  return isPossible ? [] : [`${path} holds ${found.value} of ${hex(found.mzxid)}, which no client can have written`];
}

/** Every answered create exists once, and no other node exists. */
function createFaults({ writes }: History, tree: Tree): readonly string[] {
  const faults: string[] = [];
  const creates = writes.filter(({ kind }) => kind === "create");
  const parents = new Set(creates.map(({ path }) => path));
  const nodes = [...tree].filter(([path]) => parents.has(path.slice(0, path.lastIndexOf("/") + 1)));
  const byValue = new Map(creates.map((write) => [write.value, write]));
  const seen = new Set<string>();
  for (const [path, { value, czxid }] of nodes) {
    const write = byValue.get(value);
    if (write === undefined || write.outcome === "refused")
      faults.push(`${path} holds ${value}, which cannot be there`);
    if (seen.has(value)) faults.push(`${path} holds ${value}, which another node holds too`);
    seen.add(value);
    if (write?.outcome === "done" && (write.createdPath !== path || write.zxid !== czxid)) {
      faults.push(`${name(write)} was answered ${write.createdPath}, and is ${path} of ${hex(czxid)}`);
    }
  }
  for (const write of creates) {
    if (write.outcome === "done" && !seen.has(write.value))
      faults.push(`${write.createdPath} of ${name(write)} is lost`);
  }
  for (const parent of parents) faults.push(...sequenceFaults(nodes.filter(([path]) => path.startsWith(parent))));
  return faults;
}

/** Numbers rise with zxids. */
function sequenceFaults(nodes: readonly (readonly [path: string, found: Found])[]): readonly string[] {
  const sorted = nodes.toSorted(([a], [b]) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
  for (const [index, [path, { czxid }]] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next[1].czxid <= czxid)
      return [`${path} has a lower number than ${next[0]}, and a later zxid`];
  }
  return [];
}

function readFaults({ base, writes, reads }: History): readonly string[] {
  const done = doneByZxid(writes);
  const byAnswer = new Floor(done);
  const floors = new Map([...Map.groupBy(done, ({ path }) => path)].map(([path, here]) => [path, new Floor(here)]));
  const ownFloors = new Map(
    [...Map.groupBy(done, ({ client, path }) => `${client} ${path}`)].map(([key, own]) => [key, new Floor(own)]),
  );
  const byValue = new Map(writes.map((write) => [write.value, write]));
  const newest = new Map<string, Read>();
  const faults: string[] = [];
  for (const read of reads) {
    const { answeredAt, zxid, syncSentAt, path, mzxid } = read;
    if (answeredAt === undefined || zxid === undefined) continue;
    if (syncSentAt !== undefined) {
      const missed = floors.get(path)?.before(syncSentAt);
      if (missed !== undefined && mzxid < missed.zxid) {
        faults.push(`${name(read)} behind a sync misses ${name(missed)}, answered before the sync was sent`);
      }
      const highest = byAnswer.before(syncSentAt);
      if (highest !== undefined && zxid < highest.zxid) {
        faults.push(`${name(read)} behind a sync is of ${hex(zxid)}, before ${name(highest)}`);
      }
    }
    faults.push(...contentFaults(read, { base, byValue }));
    const own = ownFloors.get(`${read.client} ${path}`)?.before(read.sentAt);
    if (own !== undefined && mzxid < own.zxid) faults.push(`${name(read)} misses its client's own ${name(own)}`);
    const previous = newest.get(`${read.client} ${path}`);
    if (previous !== undefined && mzxid < previous.mzxid) faults.push(`${name(read)} is older than ${name(previous)}`);
    newest.set(`${read.client} ${path}`, read);
  }
  return faults;
}

/** The read content is that of the write with that zxid. */
function contentFaults(
  read: Read,
  known: { readonly base: Tree; readonly byValue: ReadonlyMap<string, Write> },
): readonly string[] {
  const { path, value, mzxid, answeredAt } = read;
  const write = known.byValue.get(value);
  if (write === undefined) {
    const before = known.base.get(path);
    return before?.value === value && before.mzxid === mzxid
      ? []
      : [`${name(read)} shows ${value}, which no client wrote`];
  }
  if (write.path !== path) return [`${name(read)} shows ${value}, which was written to ${write.path}`];
  if (write.outcome === "refused") return [`${name(read)} shows ${value}, which was refused`];
  if (answeredAt !== undefined && write.sentAt > answeredAt) return [`${name(read)} shows ${value} before it was sent`];
  if (write.outcome === "done" && write.zxid !== mzxid) return [`${name(read)} shows ${value} with ${hex(mzxid)}`];
  return [];
}

interface Done extends Write {
  readonly zxid: bigint;
  readonly answeredAt: Nanos;
}

function isDone(write: Write): write is Done {
  return write.outcome === "done" && write.zxid !== undefined && write.answeredAt !== undefined;
}

function doneByZxid(writes: readonly Write[]): readonly Done[] {
  return writes.filter(isDone).sort((a, b) => (a.zxid < b.zxid ? -1 : a.zxid > b.zxid ? 1 : 0));
}

/** The write with the highest zxid that was answered before a moment. */
class Floor {
  readonly #steps: readonly { readonly at: Nanos; readonly highest: Done }[];

  constructor(writes: readonly Done[]) {
    const steps: { at: Nanos; highest: Done }[] = [];
    for (const write of writes.toSorted((a, b) => (a.answeredAt < b.answeredAt ? -1 : 1))) {
      const highest = steps.at(-1)?.highest;
      if (highest === undefined || write.zxid > highest.zxid) steps.push({ at: write.answeredAt, highest: write });
    }
    this.#steps = steps;
  }

  before(moment: Nanos): Done | undefined {
    let [low, high] = [0, this.#steps.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const step = this.#steps[middle];
      if (step !== undefined && step.at < moment) low = middle + 1;
      else high = middle;
    }
    return this.#steps[low - 1]?.highest;
  }
}

/**
 * The longest time between two answered reads or writes, of which the second is answered after a
 * moment, and not after `until`. In milliseconds.
 */
export function longestGapMs(
  asked: readonly (Read | Write)[],
  { after, until }: { readonly after: Nanos; readonly until?: Nanos },
): number {
  const times = asked
    .filter((each) => !("kind" in each) || isDone(each))
    .flatMap(({ answeredAt }) => answeredAt ?? [])
    .filter((at) => until === undefined || at <= until)
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let longest = 0n;
  for (const [index, at] of times.entries()) {
    const previous = times[index - 1];
    if (previous !== undefined && at > after && at - previous > longest) longest = at - previous;
  }
  return Number(longest) / 1e6;
}

function name(asked: Write | Read): string {
  const what = "kind" in asked ? `${asked.kind} of ${asked.value}` : `read of ${asked.path}`;
  return `${what} (${asked.client} at server ${asked.sid}${asked.zxid === undefined ? "" : `, ${hex(asked.zxid)}`})`;
}

function describe(found: Found | undefined): string {
  return found === undefined ? "nothing" : `${found.value} of ${hex(found.mzxid)}, version ${found.version}`;
}

function hex(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}
