import {
  type Acl,
  type ByteSlice,
  earlierOf,
  formatZxid,
  type HistoryReach,
  laterOf,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type PastNode,
  type PastPlace,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  ZXID_NONE,
  type Zxid,
  type ZxidRange,
} from "@zooid/model/storage";
import { type ListedBase, listBases, readManifest } from "../archive/archive-base.ts";
import type { ArchiveFile } from "../archive/archive-file.ts";
import { ArchiveListing, basesFolderOf, type ListedFile, logFolderOf } from "../archive/archive-folder.ts";
import type { BaseManifest } from "../archive/base-manifest.ts";
import { StoreError } from "../store/store-error.ts";
import { childrenInBase, nodesInBase } from "./base-node.ts";
import { KeptFiles } from "./kept-files.ts";
import { ChildrenEffect, isOfChildren } from "./past-children.ts";
import { PastEffect } from "./past-node.ts";
import { placeOfTime, type TimePlace } from "./time-places.ts";
import { TimesOfFiles } from "./times-of-files.ts";

const SLASH = 0x2f;
const NOWHERE: number = Number.POSITIVE_INFINITY;
const BUILT_IN = Buffer.from("/zookeeper");

/** Which changes are wanted. */
export interface ChangesQuery {
  /** In UTF-8. */
  readonly path: Buffer;
  /** The node alone, which the index finds, or all nodes below it too. */
  readonly scope: "node" | "subtree";
  /** The transaction to begin behind: the `reached` of the page before. */
  readonly after: Zxid;
  /** The last transaction that is wanted. Default: all. */
  readonly through?: Zxid | undefined;
  /**
   * The page ends when that many blocks are read, of 32 KiB each; an opened file counts as one,
   * too.
   */
  readonly blocksMax: number;
  /** It ends behind the transaction with the last one of that many changes. */
  readonly countMax: number;
}

/**
 * Takes a change; header and op are lent for the call. The page ends behind the transaction for
 * which it returns false.
 */
export type ChangeSink = (header: Readonly<TxnHeader>, op: Readonly<TxnOp>) => unknown;

export interface ChangesPage {
  /** The page has every change up to here, but for those in the gaps. */
  readonly reached: Zxid;
  readonly isLast: boolean;
  /** The ranges of this page that the archive lacks. */
  readonly gaps: readonly ZxidRange[];
}

/** A node at a moment, or why that cannot be said. */
export type PastAnswer =
  | { readonly kind: "node"; readonly node: PastNode }
  | { readonly kind: "no-node" }
  | UnknownPast;

/** The archive does not reach back that far, or has a gap before. */
export interface UnknownPast {
  readonly kind: "unknown";
  readonly reason: string;
}

/** A node at a moment and the names of its children, or why they cannot be said. */
export type PastChildrenAnswer =
  | { readonly kind: "children"; readonly node: PastNode; readonly names: readonly string[] }
  | { readonly kind: "no-node" }
  /** More names, or changes of children, than the limits allow. */
  | { readonly kind: "too-large" }
  | UnknownPast;

export interface ChildrenLimits {
  /** No further file is begun when that many blocks are read. */
  readonly blocksMax: number;
  readonly namesBytesMax: number;
}

/** How far files were read back from a moment, and whether any reaches that moment. */
interface WalkedBack {
  readonly from: Zxid;
  readonly isReached: boolean;
  /** The file at which reading ended: only a base behind it can replace it. */
  readonly damage: StoreError | undefined;
}

/** One history of an archive that has several, which branch off where a state was restored. */
export interface HistoryBranch {
  readonly base: ListedBase;
  /** Those that continue the base, by their chain. */
  readonly files: readonly ListedFile[];
}

/** Bases any of which has the state to begin with. */
type BasesBefore =
  | { readonly kind: "bases"; readonly bases: readonly ListedBase[] }
  /** Nothing was there. */
  | { readonly kind: "none" }
  | UnknownPast;

/** The result of a search in a whole base. */
interface FoundInBase<T> {
  readonly kind: "found";
  readonly value: T;
}

/**
 * Reads the changes of nodes, and nodes of the past, out of an archive that a server may be writing
 * to: the index of each file says in which blocks a path is, and is kept in memory. A file is
 * opened for the call alone.
 */
export class HistoryReader {
  readonly #archive: string;
  readonly #decoder: TxnDecoder;
  readonly #baseNodesMax: number;
  readonly #branch: HistoryBranch | undefined;
  readonly #kept = new KeptFiles();
  readonly #times = new TimesOfFiles();
  readonly #listing: ArchiveListing;
  #listed: readonly ListedFile[] = [];
  /** Those of the listed files that continue the ones before. */
  #continued: readonly ListedFile[] = [];
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();

  /**
   * @param archive its folder, with `log` and `base`
   * @param baseNodesMax of a base that is read: one has to wait a second for 300,000
   * @param branch what is read alone, of an archive whose files branch off
   */
  constructor(
    archive: string,
    decoder: TxnDecoder,
    baseNodesMax: number = Number.POSITIVE_INFINITY,
    branch?: HistoryBranch,
  ) {
    this.#branch = branch;
    this.#archive = archive;
    this.#listing = new ArchiveListing(logFolderOf(archive));
    this.#baseNodesMax = baseNodesMax;
    this.#decoder = decoder;
  }

  /**
   * Those that continue the ones before, in the same array until they change; a file within another
   * one adds nothing.
   */
  files(): readonly ListedFile[] {
    if (this.#branch !== undefined) return this.#branch.files;
    const listed = this.#listing.files();
    if (listed === this.#listed) return this.#continued;
    this.#kept.retain(listed);
    this.#times.retain(listed);
    let reached = -1;
    this.#listed = listed;
    this.#continued = listed.filter(({ end }) => {
      if (end <= reached) return false;
      reached = end;
      return true;
    });
    return this.#continued;
  }

  /**
   * The range of the files: behind the first zxid, up to the second one. Undefined without files.
   *
   * @param floor where the log begins, and so the first file will: a purge may have left no file
   *   but a base behind it
   */
  range(floor: Zxid = ZXID_NONE): ZxidRange | undefined {
    const files = this.files();
    const [first, last] = [files[0], files.at(-1)];
    if (first !== undefined && last !== undefined) return { after: first.after, end: last.end };
    const base = listBases(basesFolderOf(this.#archive)).at(-1);
    const isLeft = floor !== ZXID_NONE && base !== undefined && base.zxid >= floor;
    return isLeft ? { after: floor, end: base.zxid } : undefined;
  }

  /**
   * Undefined where there is no moment, without files or without a whole state.
   *
   * @param floor as for {@link range}
   */
  reach(floor?: Zxid): HistoryReach | undefined {
    const range = this.range(floor);
    if (range === undefined) return undefined;
    const { after, end: last } = range;
    // Before the very first transaction there were no nodes.
    const first =
      after === 0
        ? ((after + 1) as Zxid)
        : listBases(basesFolderOf(this.#archive)).find((base) => base.zxid >= after)?.zxid;
    return first === undefined || first > last ? undefined : { first, last };
  }

  /**
   * Finds the transaction that a time stands for. It reads the footer of each file once.
   *
   * @throws StoreError for a damaged file that may have that transaction
   */
  placeOf(timeMs: number): TimePlace {
    return placeOfTime(this.#times.of(this.files()), timeMs, this.#decoder);
  }

  /**
   * Hands over changes, oldest first. A page ends before a damaged file, or a damaged block of it.
   *
   * @throws StoreError for a damaged file with which the page would begin
   */
  changes(query: ChangesQuery, sink: ChangeSink): ChangesPage {
    const { through = Number.MAX_SAFE_INTEGER as Zxid } = query;
    const page = new Page(query, sink);
    const gaps: ZxidRange[] = [];
    for (const file of this.files()) {
      const { after, end } = file;
      if (end <= page.reached) continue;
      if (page.reached >= through) break;
      if (page.isFull) return { reached: page.reached, isLast: false, gaps };
      if (after > page.reached) gaps.push({ after: page.reached, end: after });
      page.reached = laterOf(page.reached, after);
      const reached = this.#readFile(file, page, through);
      if (reached !== undefined) return { reached, isLast: false, gaps };
      page.reached = earlierOf(end, through);
    }
    return { reached: page.reached, isLast: true, gaps };
  }

  /** @returns how far it was read; undefined: to its end */
  #readFile(file: ListedFile, page: Page, through: Zxid): Zxid | undefined {
    // Every change before it is in the page.
    let before = page.reached;
    let isWithinBlock = false;
    try {
      using archive = this.#kept.open(file);
      page.blocksLeft--;
      const { path, scope } = page.query;
      const numbers = scope === "node" ? archive.blocksOf(path) : [...archive.blocks.keys()];
      for (const number of numbers) {
        const [first, next] = [archive.blocks[number]?.first, archive.blocks[number + 1]?.first];
        if (first === undefined || first > through) break;
        if (next !== undefined && next <= page.reached + 1) continue;
        before = laterOf(page.reached, (first - 1) as Zxid);
        if (page.isFull) return before;
        page.takeBlock();
        let last: Zxid | undefined;
        this.#eachIn(archive, number, { path, through }, (header, op) => {
          const { zxid } = header;
          if (zxid <= page.reached || (last !== undefined && zxid > last)) return;
          isWithinBlock = true;
          page.take(header, op);
          if (page.countLeft <= 0) last = zxid;
        });
        isWithinBlock = false;
        if (last !== undefined) return last;
      }
      return undefined;
    } catch (error) {
      const isBehindSome = before > page.query.after && !isWithinBlock;
      if (!(error instanceof StoreError) || !isBehindSome) throw error;
      return before;
    }
  }

  /**
   * The node behind a transaction. Without a change of it in the files, a base is read.
   *
   * @throws StoreError for a damaged file
   */
  nodeAt(path: Buffer, at: Zxid): PastAnswer {
    const effect = new PastEffect();
    const behind = this.#walkBack(at, (file) => {
      effect.precede(this.#effectIn(file, path, at));
      return !effect.isWhole;
    });
    if (effect.isWhole) return answerOf(effect);
    const before = this.#basesBefore(path, at, behind);
    if (before.kind === "unknown") return before;
    if (before.kind === "bases") {
      const found = this.#inBase(before.bases, (base, manifest) => nodesInBase(base, manifest, [path])[0]);
      if (found.kind === "unknown") return found;
      effect.precedeState(found.value);
    } else effect.precedeState(undefined);
    return answerOf(effect);
  }

  /**
   * The access lists of nodes, each behind a transaction, for which one base is read at most.
   *
   * @returns those of the first nodes, at least one, up to where another base would be needed;
   *   undefined where one is unknown or was not there
   * @throws StoreError for a damaged file
   */
  aclsAt(nodes: readonly PastPlace[]): readonly (Acl | undefined)[] {
    const effects: PastEffect[] = [];
    const inBase: number[] = [];
    let bases: readonly ListedBase[] | undefined;
    for (const [place, { path: bytes, zxid: at }] of nodes.entries()) {
      const [path, effect] = [Buffer.from(bytes), new PastEffect()];
      const behind = this.#walkBack(at, (file) => {
        effect.precede(this.#effectIn(file, path, at));
        return !effect.isWhole && effect.acl === undefined;
      });
      if (!effect.isWhole && effect.acl === undefined) {
        const before = this.#basesBefore(path, at, behind);
        if (before.kind === "bases") {
          const shared = bases?.filter(({ folder }) => before.bases.some((base) => base.folder === folder));
          if (shared?.length === 0) break;
          bases = shared ?? before.bases;
          inBase.push(place);
        }
      }
      effects.push(effect);
    }
    if (bases !== undefined) {
      const paths = inBase.map((place) => Buffer.from(nodes[place]?.path ?? []));
      const found = this.#inBase(bases, (base, manifest) => nodesInBase(base, manifest, paths));
      const states = found.kind === "found" ? found.value : [];
      for (const [i, node] of states.entries()) effects[inBase[i] ?? 0]?.precedeState(node);
    }
    return effects.map(({ acl }) => acl?.acl);
  }

  /**
   * The node behind a transaction, and the names of its children. It reads files back to the create
   * of the node, or until `blocksMax` blocks are read, and then a base.
   *
   * @throws StoreError for a damaged file
   */
  childrenAt(path: Buffer, at: Zxid, { blocksMax, namesBytesMax }: ChildrenLimits): PastChildrenAnswer {
    const effect = new PastEffect();
    const children = new ChildrenEffect(path);
    let blocksLeft = blocksMax;
    const behind = this.#walkBack(at, (file) => {
      if (blocksLeft <= 0 || children.isTooLarge) return false;
      blocksLeft -= this.#childrenIn(file, { path, at }, effect, children);
      return !effect.isWhole;
    });
    if (!effect.isWhole && !children.isTooLarge) {
      const before = this.#basesBefore(path, at, behind);
      const found =
        before.kind === "bases"
          ? this.#inBase(before.bases, (base, manifest) => childrenInBase(base, manifest, path, namesBytesMax))
          : before;
      if (found.kind === "unknown") return blocksLeft <= 0 ? { kind: "too-large" } : found;
      const state = found.kind === "none" ? undefined : found.value;
      if (state === "too-large") return { kind: "too-large" };
      effect.precedeState(state?.node);
      children.precedeState(state?.names ?? []);
    }
    const node = effect.node();
    if (node === undefined) return { kind: "no-node" };
    const names = children.names();
    const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
    return children.isTooLarge || bytes > namesBytesMax ? { kind: "too-large" } : { kind: "children", node, names };
  }

  /**
   * Hands over the files that continue each other up to a moment, newest first, while they are
   * wanted; up to a damaged one.
   */
  #walkBack(at: Zxid, take: (file: ListedFile) => boolean): WalkedBack {
    let from = at;
    let isReached = false;
    for (const file of this.files().toReversed()) {
      if (file.after >= at) continue;
      if (file.end < from) break;
      isReached = true;
      try {
        if (!take(file)) break;
      } catch (damage) {
        if (!(damage instanceof StoreError)) throw damage;
        return { from, isReached, damage };
      }
      from = file.after;
    }
    return { from, isReached, damage: undefined };
  }

  /**
   * The whole states to begin with where files were read back to a zxid without a create.
   *
   * @throws StoreError for a damaged file that none of them replaces
   */
  #basesBefore(path: Buffer, at: Zxid, { from, isReached, damage }: WalkedBack): BasesBefore {
    const all = this.#branch === undefined ? listBases(basesFolderOf(this.#archive)) : [this.#branch.base];
    const bases = all.filter(({ zxid }) => zxid >= from && zxid <= at);
    if (bases.length > 0) return { kind: "bases", bases };
    if (damage !== undefined) throw damage;
    if (from === 0 && !isBuiltIn(path)) return { kind: "none" };
    const place = isReached ? `between ${formatZxid(from)} and ${formatZxid(at)}` : `at ${formatZxid(at)}`;
    return { kind: "unknown", reason: `the history has no whole state ${place}` };
  }

  /**
   * Looks into the first base that is whole: the oldest one serves the most questions.
   *
   * @throws StoreError where each is damaged
   */
  #inBase<T>(
    bases: readonly ListedBase[],
    look: (base: ListedBase, manifest: BaseManifest) => T,
  ): FoundInBase<T> | UnknownPast {
    let damage: StoreError | undefined;
    for (const base of bases) {
      try {
        const manifest = readManifest(base);
        if (manifest.nodeCount > this.#baseNodesMax)
          return { kind: "unknown", reason: `a base of ${manifest.nodeCount} nodes is too large to look into` };
        return { kind: "found", value: look(base, manifest) };
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        damage ??= error;
      }
    }
    throw damage ?? new Error("there is a base");
  }

  /** The effect on a node that the changes in a file have, up to a zxid. */
  #effectIn(file: ListedFile, path: Buffer, at: Zxid): PastEffect {
    using archive = this.#kept.open(file);
    const effect = new PastEffect();
    for (const number of archive.blocksOf(path).toReversed()) {
      if ((archive.blocks[number]?.first ?? 0) > at) continue;
      const inBlock = new PastEffect();
      this.#eachIn(archive, number, { path, through: at }, (header, op) => {
        if (isPath(op.path, path)) inBlock.apply(header, op);
      });
      effect.precede(inBlock);
      if (effect.isWhole) break;
    }
    return effect;
  }

  /**
   * Puts what a file's changes make of a node and its children before the effects of later files.
   *
   * @returns how many blocks were read
   */
  #childrenIn(
    file: ListedFile,
    { path, at }: { readonly path: Buffer; readonly at: Zxid },
    effect: PastEffect,
    children: ChildrenEffect,
  ): number {
    using archive = this.#kept.open(file);
    const parent = path.length === 1 ? path : Buffer.concat([path, Buffer.from("/")]);
    const numbers = [...new Set([...archive.blocksOf(path), ...archive.blocksOf(parent)])].sort((a, b) => b - a);
    let count = 0;
    for (const number of numbers) {
      if ((archive.blocks[number]?.first ?? 0) > at) continue;
      const [nodeInBlock, childrenInBlock] = [new PastEffect(), new ChildrenEffect(path)];
      this.#eachIn(archive, number, { path, through: at }, (header, op) => {
        if (!isOfChildren(op.path, path)) return;
        if (isPath(op.path, path)) nodeInBlock.apply(header, op);
        childrenInBlock.apply(op);
      });
      count++;
      effect.precede(nodeInBlock);
      children.precede(childrenInBlock);
      if (effect.isWhole || children.isTooLarge) break;
    }
    return count;
  }

  /** Hands over the changes in a block, up to a zxid, of entries in which a path occurs. */
  #eachIn(
    archive: ArchiveFile,
    number: number,
    { path, through }: { readonly path: Buffer; readonly through: Zxid },
    sink: ChangeSink,
  ): void {
    // An entry has the paths of its changes unchanged: one without this path is not decoded.
    let found = -1;
    archive.walkBlock(number, (zxid, bytes, start, end) => {
      if (zxid > through) return;
      if (found < start) found = placeOf(path, bytes, start);
      if (found + path.length <= end) this.#each(zxid, bytes, start, end, sink);
    });
  }

  #each(zxid: Zxid, bytes: Uint8Array, start: number, end: number, sink: ChangeSink): void {
    const [header, op] = [this.#header, this.#op];
    this.#decoder.open(bytes, start, end, header);
    header.zxid = zxid;
    while (this.#decoder.next(op)) if (isChange(op)) sink(header, op);
  }
}

/** A page while it is read. */
class Page {
  readonly query: ChangesQuery;
  reached: Zxid;
  blocksLeft: number;
  countLeft: number;
  readonly #sink: ChangeSink;
  #hasBlock = false;

  constructor(query: ChangesQuery, sink: ChangeSink) {
    this.query = query;
    this.reached = query.after;
    this.blocksLeft = query.blocksMax;
    this.countLeft = query.countMax;
    this.#sink = sink;
  }

  /** A page has one block at least, so that the next one begins behind it. */
  get isFull(): boolean {
    const hasAdvanced = this.#hasBlock || this.reached > this.query.after;
    return hasAdvanced && (this.blocksLeft <= 0 || this.countLeft <= 0);
  }

  takeBlock(): void {
    this.#hasBlock = true;
    this.blocksLeft--;
  }

  take(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    const { path, scope } = this.query;
    if (!(scope === "node" ? isPath(op.path, path) : isWithin(op.path, path))) return;
    this.countLeft--;
    if (this.#sink(header, op) === false) this.countLeft = 0;
  }
}

/** Whether every tree has a node of that path from the begin, or may have. */
function isBuiltIn(path: Buffer): boolean {
  return path.length === 1 || isWithin({ bytes: path, start: 0, end: path.length }, BUILT_IN);
}

function answerOf(effect: PastEffect): PastAnswer {
  const node = effect.node();
  return node === undefined ? { kind: "no-node" } : { kind: "node", node };
}

/** Where a path occurs next, or {@link NOWHERE}. */
function placeOf(path: Buffer, { buffer, byteOffset, length }: Uint8Array, start: number): number {
  const place = Buffer.from(buffer, byteOffset, length).indexOf(path, start);
  return place === -1 ? NOWHERE : place;
}

/** Whether an op changes the node at its path; the parts of a refused multi are none. */
function isChange({ op, path }: Readonly<TxnOp>): boolean {
  return path.start < path.end && op !== OpCode.CHECK && op !== OpCode.ERROR;
}

function isPath({ bytes, start, end }: Readonly<ByteSlice>, path: Buffer): boolean {
  return end - start === path.length && path.compare(bytes, start, end) === 0;
}

/** Whether a path is that of a node, or of one below it. */
function isWithin(slice: Readonly<ByteSlice>, path: Buffer): boolean {
  const { bytes, start, end } = slice;
  if (path.length === 1) return true;
  if (end - start < path.length || path.compare(bytes, start, start + path.length) !== 0) return false;
  return end - start === path.length || bytes[start + path.length] === SLASH;
}
