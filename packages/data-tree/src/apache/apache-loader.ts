import {
  type Acl,
  assert,
  isValidPath,
  lastSlash,
  OPEN_ACL,
  type SessionId,
  STAT_BYTES,
  StatOffset,
  sessionIdHigh,
  sessionIdLow,
  type Zxid,
} from "@zooid/model";
import { APACHE_STAT_BYTES, STAT_LENGTHS_BYTES, STAT_LENGTHS_START } from "@zooid/wire/apache";
import type { DataTree } from "../data-tree.ts";
import { checkSession, type TranslatorOptions } from "./apache-translator.ts";
import { ApacheTxnError } from "./apache-txn-error.ts";

const OPEN_KEY = -1n;
const NO_NODE = 0;
/**
 * The list of a node whose own one is not in the snapshot, since lists stand before nodes. A later
 * transaction brings it; until then no client has a permission on the node.
 */
export const MISSING_ACL: Acl = [{ perms: 0, scheme: "world", id: "anyone" }];
/** Without these a tree is not what every server expects it to be. */
const NEEDED = ["/zookeeper", "/zookeeper/quota", "/zookeeper/config"];
/** A table of more has no place in a map. */
const SESSION_COUNT_MAX = 2 ** 23;
const TIME_OFFSETS = [StatOffset.ctime, StatOffset.mtime];
const TIME_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Fills a tree from a snapshot of Apache's. The snapshot is fuzzy: an ephemeral node may belong to
 * a session that it does not have, and an access list may be missing.
 */
export class ApacheLoader {
  readonly #tree: DataTree;
  readonly #options: TranslatorOptions;
  readonly #zxid: Zxid;
  readonly #acls = new Map<bigint, Acl>([[OPEN_KEY, OPEN_ACL]]);
  readonly #stat = new Uint8Array(STAT_BYTES);
  #nextId = 1;

  /** @param zxid that the snapshot names */
  constructor(tree: DataTree, zxid: Zxid, options: TranslatorOptions) {
    this.#tree = tree;
    this.#zxid = zxid;
    this.#options = options;
    tree.beginLoad();
  }

  /** Number of nodes so far. */
  get nodeCount(): number {
    return this.#nextId - 1;
  }

  /** @throws ApacheTxnError for one that comes twice, or cannot be kept */
  session(id: SessionId, timeoutMs: number): void {
    checkSession(id, timeoutMs, this.#zxid);
    const [high, low] = [sessionIdHigh(id), sessionIdLow(id)];
    const name = `session 0x${BigInt.asUintN(64, id).toString(16)}`;
    if (this.#tree.hasSession(high, low)) throw this.#notKept(name, "it comes twice");
    if (this.#tree.sessionCount >= SESSION_COUNT_MAX)
      throw this.#notKept(name, `there are more than ${SESSION_COUNT_MAX} sessions`);
    const passwordHash = this.#options.passwordHash(high, low);
    this.#tree.loadSession({ high, low, timeoutMs, passwordHash, hasDerivedPassword: true });
  }

  acl(key: bigint, acl: Acl): void {
    this.#acls.set(key, acl);
  }

  /**
   * @param path the root's is empty
   * @param stat 60 bytes, as Apache's servers store it
   * @throws ApacheTxnError for one that comes twice, has no parent, or cannot be kept
   */
  node(path: string, data: Buffer | null, aclKey: bigint, stat: Buffer): void {
    const bytes = Buffer.from(path);
    const name = path === "" ? "/" : path;
    const { dataBytesMax } = this.#options;
    if (data !== null && data.length > dataBytesMax)
      throw this.#notKept(
        name,
        `its ${data.length} bytes of data are more than the ${dataBytesMax} of jute.maxbuffer here`,
      );
    for (const offset of TIME_OFFSETS) {
      const time = stat.readBigInt64BE(offset);
      if (time > TIME_MAX || time < -TIME_MAX) throw this.#notKept(name, `it has a time of ${time}`);
    }
    const slash = bytes.length === 0 ? -1 : lastSlash(bytes, 0, bytes.length);
    this.#tree.loadNode({
      id: this.#nextId++,
      parentId: this.#parentId(name, bytes, slash),
      name: bytes.subarray(slash + 1),
      data,
      stat: this.#wholeStat(stat, data?.length ?? 0),
      acl: this.#acls.get(aclKey) ?? MISSING_ACL,
    });
  }

  /**
   * After the last node.
   *
   * @param level the feature level of this server's history
   * @throws ApacheTxnError where a node is missing that every tree has
   */
  finish(level: number): void {
    this.#tree.finishLoad({ applied: this.#zxid, nextNode: this.#nextId, level });
    for (const path of NEEDED) {
      const bytes = Buffer.from(path);
      if (this.#tree.find(bytes, 0, bytes.length) === NO_NODE)
        throw new ApacheTxnError({ code: "SNAPSHOT_LACKS", zxid: this.#zxid, path });
    }
  }

  #parentId(name: string, path: Buffer, slash: number): number {
    if (path.length === 0) {
      if (this.nodeCount > 1) throw this.#notKept(name, "it comes twice");
      return 0;
    }
    if (this.nodeCount === 1) throw this.#notKept(name, "it comes before the root");
    if (!isValidPath(path, 0, path.length)) throw this.#notKept(name, "no path of a znode is like it");
    const parent = this.#tree.find(path, 0, Math.max(1, slash));
    if (parent === NO_NODE) throw this.#notKept(name, "its parent is missing");
    if (this.#tree.find(path, 0, path.length) !== NO_NODE) throw this.#notKept(name, "it comes twice");
    return this.#tree.idOf(parent);
  }

  /** With the lengths, which Apache does not store. */
  #wholeStat(stored: Buffer, dataLength: number): Uint8Array {
    assert(stored.length === APACHE_STAT_BYTES, "a stored stat has 60 bytes");
    this.#stat.set(stored.subarray(0, STAT_LENGTHS_START), 0);
    this.#stat.set(stored.subarray(STAT_LENGTHS_START), STAT_LENGTHS_START + STAT_LENGTHS_BYTES);
    const view = new DataView(this.#stat.buffer);
    view.setInt32(StatOffset.dataLength, dataLength);
    view.setInt32(StatOffset.numChildren, 0);
    return this.#stat;
  }

  #notKept(path: string, found: string): ApacheTxnError {
    return new ApacheTxnError({ code: "CANNOT_BE_KEPT", zxid: this.#zxid, path, found });
  }
}
