import { type Judgement, judge, type Part } from "./judge.ts";
import { isCompared, type NodeState, type Observed } from "./node-state.ts";
import { NodeTable } from "./node-table.ts";
import type { NodeVisitor, OtherSide, ServerSide } from "./sides.ts";
import { UnreadPaths } from "./unread-paths.ts";

/** Readings of nodes that seem different; nodes that change at each of them are reported. */
const ROUNDS = 5;
/** Nodes that are read again, with both states in memory. */
const SUSPECTS_MAX = 20_000;
const EPOCH = 2 ** 32;

export interface NodeDifference {
  readonly path: string;
  readonly server: string;
  readonly parts: readonly Part[];
  readonly atServer: NodeState | "absent";
  readonly atOther: NodeState | "absent";
}

/** Nodes of which nothing is said, counted, with one of them. */
export interface Uncompared {
  readonly count: number;
  readonly path: string | undefined;
}

export interface Comparison {
  /** Nodes of the other side. */
  readonly nodes: number;
  /** The first ones. */
  readonly differences: readonly NodeDifference[];
  readonly differenceCount: number;
  /** Nodes that were different at each reading and changed all the time. */
  readonly moved: Uncompared;
  /** Nodes that may not be read, at a server or on the other side. */
  readonly unread: Uncompared;
  /** Nodes of the other side below such nodes. */
  readonly belowUnread: Uncompared;
  /** Access lists that are shown without their hashes. */
  readonly hiddenLists: Uncompared;
  /** Different at the first reading, and too many to be read again. */
  readonly unconfirmed: Uncompared;
  /** Servers that could not be read to the end, with the reason. */
  readonly failed: readonly { readonly server: string; readonly reason: string }[];
  /** The zxid of the last state of the other side. */
  readonly zxid: number;
  /** The highest zxid of a server. */
  readonly serverZxid: number;
  /** The other side did not come to the servers' zxid while it was waited for. */
  readonly isBehind: boolean;
  readonly rounds: number;
  /** Memory of the table of hashes. */
  readonly tableBytes: number;
}

export interface ComparisonOptions {
  readonly servers: readonly ServerSide[];
  readonly other: OtherSide;
  /** Differences that are kept; all are counted. */
  readonly shownMax: number;
  /** Why a server could not be read; throws the error where nothing is to be continued. */
  failure(error: unknown): string;
  /** Called for each node that was read. */
  step?(path: string): void;
}

/**
 * Compares each server with the other side, node by node, while clients change them.
 *
 * All nodes of the other side become hashes in a table, and each server is read beside it. Nodes
 * that are not the same are read again: at the server, on the other side, and at the server again,
 * until they are the same, differ, or the rounds are over.
 */
export async function compareSides(options: ComparisonOptions): Promise<Comparison> {
  return await new SideComparison(options).run();
}

class Counted {
  #count = 0;
  #path: string | undefined;

  add(path: string): void {
    this.#count++;
    this.#path ??= path;
  }

  get value(): Uncompared {
    return { count: this.#count, path: this.#path };
  }
}

class SideComparison {
  readonly #options: ComparisonOptions;
  readonly #table: NodeTable;
  readonly #unread: readonly UnreadPaths[];
  readonly #otherUnread = new UnreadPaths();
  readonly #failed = new Map<number, string>();
  /** The servers at which a node is to be read again, by path. */
  readonly #suspects = new Map<string, Set<number>>();
  readonly #unconfirmed = new Counted();
  readonly #belowUnread = new Counted();
  readonly #hiddenLists: readonly Counted[];
  readonly #differences: NodeDifference[] = [];
  #differenceCount = 0;
  #zxid = 0;
  #isBehind = false;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#table = new NodeTable(options.servers.length);
    this.#unread = options.servers.map(() => new UnreadPaths());
    this.#hiddenLists = options.servers.map(() => new Counted());
  }

  async run(): Promise<Comparison> {
    const { servers, other } = this.#options;
    this.#zxid = await other.readAll(
      this.#visitor({
        node: (path, state) => this.#table.add(path, state),
        unread: (path) => this.#otherUnread.add(path),
      }),
    );
    await Promise.all(servers.map((_, at) => this.#attempt(at, () => this.#readServer(at))));
    await this.#nameUnseen();
    let rounds = 0;
    while (this.#suspects.size > 0 && rounds < ROUNDS) {
      rounds++;
      await this.#readAgain();
    }
    return this.#result(rounds);
  }

  async #readServer(at: number): Promise<void> {
    const unread = this.#unread[at];
    await this.#options.servers[at]?.readAll(
      this.#visitor({
        node: (path, state) => {
          const found = this.#table.see(path, state, at);
          if (found === "same") return;
          if (found === "list-unknown") this.#hiddenLists[at]?.add(path);
          else if (!(found === "missing" && this.#otherUnread.covers(path))) this.#suspect(path, at);
        },
        unread: (path) => unread?.add(path),
      }),
    );
  }

  /** The table has no paths: nodes that a server lacks are named by a second reading. */
  async #nameUnseen(): Promise<void> {
    const { servers, other } = this.#options;
    const lacking = servers.flatMap((_, at) => (this.#failed.has(at) || this.#table.unseenCount(at) === 0 ? [] : [at]));
    if (lacking.length === 0) return;
    const node = (path: string): void => {
      const unseen = lacking.filter((at) => this.#table.isUnseen(path, at));
      const hidden = unseen.filter((at) => this.#unread[at]?.covers(path) === true);
      if (hidden.some((at) => this.#unread[at]?.has(path) !== true)) this.#belowUnread.add(path);
      for (const at of unseen) if (!hidden.includes(at)) this.#suspect(path, at);
    };
    this.#zxid = await other.readAll(this.#visitor({ node, unread: () => undefined }));
  }

  async #readAgain(): Promise<void> {
    const { servers, other } = this.#options;
    const pathsOf = (at: number): readonly string[] =>
      [...this.#suspects].filter(([, suspected]) => suspected.has(at)).map(([path]) => path);
    const startZxids = servers.map(({ zxid }) => zxid);
    const before = await this.#readSuspects(pathsOf);
    const beforeZxids = servers.map(({ zxid }) => zxid);
    await other.reach(Math.max(0, ...beforeZxids));
    const reading = await other.readSome(new Set(this.#suspects.keys()));
    this.#zxid = reading.zxid;
    // A history of its own begins in a later epoch: nothing of the servers' comes to it.
    const isShared = other.isAtOneZxid && Math.floor(reading.zxid / EPOCH) <= Math.floor(this.#serverZxid / EPOCH);
    const hasReached = await Promise.all(
      servers.map(async (server, at) => {
        if (!isShared || this.#failed.has(at)) return true;
        return (await this.#attempt(at, () => server.reach(reading.zxid))) ?? false;
      }),
    );
    const after = await this.#readSuspects(pathsOf);
    this.#isBehind = isShared && beforeZxids.some((zxid) => zxid > reading.zxid);
    for (const [path, suspected] of this.#suspects) {
      for (const at of suspected) {
        const beforeZxid = beforeZxids[at] ?? 0;
        const isBetween = !isShared || (beforeZxid <= reading.zxid && hasReached[at] === true);
        this.#decide(path, at, {
          before: before[at]?.get(path),
          other: reading.nodes.get(path) ?? "absent",
          after: after[at]?.get(path),
          isBetween,
          startZxid: isShared ? startZxids[at] : undefined,
        });
      }
      if (suspected.size === 0) this.#suspects.delete(path);
    }
  }

  #readSuspects(
    pathsOf: (at: number) => readonly string[],
  ): Promise<readonly (ReadonlyMap<string, Observed> | undefined)[]> {
    return Promise.all(
      this.#options.servers.map((server, at) => this.#attempt(at, () => server.readSome(pathsOf(at)))),
    );
  }

  #decide(
    path: string,
    at: number,
    found: {
      readonly before: Observed | undefined;
      readonly other: Observed;
      readonly after: Observed | undefined;
      readonly isBetween: boolean;
      readonly startZxid: number | undefined;
    },
  ): void {
    const { before, other, after } = found;
    const suspected = this.#suspects.get(path);
    // A server that failed meanwhile is reported as such.
    if (before === undefined || after === undefined) {
      suspected?.delete(at);
      return;
    }
    if (before === "unread" || after === "unread" || other === "unread") {
      suspected?.delete(at);
      if (other === "unread") this.#otherUnread.add(path);
      else this.#unread[at]?.add(path);
      return;
    }
    const judgement = judge({ ...found, before, other, after });
    if (judgement.verdict === "moved") return;
    suspected?.delete(at);
    if (judgement.verdict === "differs") this.#differ(path, at, judgement, after, other);
    else if (after !== "absent" && after.acl === undefined) this.#hiddenLists[at]?.add(path);
  }

  #differ(
    path: string,
    at: number,
    { parts }: Judgement,
    atServer: NodeState | "absent",
    atOther: NodeState | "absent",
  ): void {
    this.#differenceCount++;
    const { servers, shownMax } = this.#options;
    if (this.#differences.length >= shownMax) return;
    this.#differences.push({ path, server: servers[at]?.name ?? "", parts, atServer, atOther });
  }

  #suspect(path: string, at: number): void {
    const known = this.#suspects.get(path);
    if (known !== undefined) known.add(at);
    else if (this.#suspects.size < SUSPECTS_MAX) this.#suspects.set(path, new Set([at]));
    else this.#unconfirmed.add(path);
  }

  #visitor(visitor: NodeVisitor): NodeVisitor {
    const { step } = this.#options;
    return {
      node: (path, state) => {
        if (!isCompared(path)) return;
        visitor.node(path, state);
        step?.(path);
      },
      unread: (path) => {
        if (isCompared(path)) visitor.unread(path);
      },
    };
  }

  /** Undefined for a server that failed, now or before. */
  async #attempt<T>(at: number, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#failed.has(at)) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#failed.set(at, this.#options.failure(error));
      return undefined;
    }
  }

  get #serverZxid(): number {
    return Math.max(0, ...this.#options.servers.map(({ zxid }) => zxid));
  }

  #result(rounds: number): Comparison {
    const { servers } = this.#options;
    const moved = new Counted();
    for (const path of this.#suspects.keys()) moved.add(path);
    const unread = [...this.#unread, this.#otherUnread].map(({ count, first }) => ({ count, path: first }));
    return {
      nodes: this.#table.size,
      differences: this.#differences,
      differenceCount: this.#differenceCount,
      moved: moved.value,
      unread: most(unread),
      belowUnread: this.#belowUnread.value,
      hiddenLists: most(this.#hiddenLists.map(({ value }) => value)),
      unconfirmed: this.#unconfirmed.value,
      failed: [...this.#failed].map(([at, reason]) => ({ server: servers[at]?.name ?? "", reason })),
      zxid: this.#zxid,
      serverZxid: this.#serverZxid,
      isBehind: this.#isBehind && this.#suspects.size > 0,
      rounds,
      tableBytes: this.#table.byteCount,
    };
  }
}

/** The servers are shown the same nodes: the one of which most are lacking stands for all. */
function most(found: readonly Uncompared[]): Uncompared {
  return found.reduce((a, b) => (b.count > a.count ? b : a), { count: 0, path: undefined });
}
