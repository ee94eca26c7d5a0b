import { randomInt } from "node:crypto";
import {
  formatsAt,
  type NodeKind,
  nodeKind,
  STAT_BYTES,
  StatOffset,
  sessionIdFromHalves,
  type Zxid,
} from "@zooid/model/storage";
import {
  Adler32,
  APACHE_DIGEST_VERSION,
  APACHE_HEADER_BYTES,
  APACHE_MAGIC,
  APACHE_SESSION_BYTES,
  APACHE_STAT_BYTES,
  APACHE_VERSION,
  DIGEST_BYTES,
  END_PATH,
  field,
  int,
  LAST_ZXID_BYTES,
  SEAL_BYTES,
  STAT_LENGTHS_BYTES,
  STAT_LENGTHS_START,
} from "@zooid/wire/apache";
import { type Database, openReader } from "../disk/database.ts";
import type { EpochRange } from "../log/txn-log.ts";
import { ChunkWriter } from "../snapshots/chunk-writer.ts";
import type { SnapshotHeader } from "../snapshots/snapshot-format.ts";
import { dataStart, newStateNode, RowOffset, viewNode } from "../state/node-row.ts";
import { NodeRuns } from "../state/node-runs.ts";
import { damagedState, readAcls, readMeta, readSessions } from "../state/state-rows.ts";
import type { SnapshotContent, StateNode } from "../state/state-store.ts";
import { derivedPasswordHash } from "./apache-password.ts";
import type { ExportOptions } from "./export-options.ts";
import { PathIndex } from "./path-index.ts";
import { PlaceSet } from "./place-set.ts";

const CACHE_KIB = 1024;
const COUNT_BYTES = 4;
const LENGTH_BYTES = 4;
const KEY_BYTES = 8;
const PERMISSIONS_BYTES = 4;
const NULL_LENGTH = -1;
const ZXID_BYTES = 8;
/** The node that an ensemble's configuration is shown in. */
const CONFIG_PATH = Buffer.from("/zookeeper/config");

type SessionCounts = Pick<SnapshotContent, "sessionCount" | "leftOutSessionCount" | "shortestTimeoutMs">;
type ExportedSession = readonly [high: number, low: number, timeoutMs: number];

/**
 * Reads a state file within one read transaction, as the chunks of a snapshot of Apache's: each as
 * {@link SnapshotEncoder} seals it, around the next piece of the stream.
 *
 * Everything is read twice. The first pass finds out how long the stream will be, where each node
 * lies, and whether all of it is what was once written; so nothing is begun that could not be
 * ended.
 */
export class ApacheSnapshotEncoder {
  readonly header: SnapshotHeader;
  readonly content: SnapshotContent;
  readonly #file: string;
  readonly #sessions: NonNullable<ExportOptions["sessions"]>;
  readonly #newHistoryAt: Zxid | undefined;
  /** Sessions whose nodes are in the stream, by their ids; undefined: the nodes of all. */
  readonly #owners: ReadonlySet<bigint> | undefined;
  /** Places of parents of nodes that are left out. */
  readonly #bereaved = new PlaceSet();
  /** The place of the configuration's node, where its data are left out. */
  #emptied: number | undefined;
  readonly #database: Database;
  readonly #chunks = new ChunkWriter();
  readonly #sum = new Adler32();
  readonly #paths = new PathIndex({ k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 });
  readonly #node: StateNode = newStateNode();
  #nodes: NodeRuns;
  /** How many nodes are written. */
  #place = 0;
  #path: Buffer = Buffer.allocUnsafe(1024);
  #phase: "head" | "nodes" | "ended" = "head";

  /** @param options the epoch table up to where the state stands, and what is in the stream */
  constructor(file: string, options: ExportOptions & { readonly epochs: readonly EpochRange[] }) {
    const { epochs, sessions = "kept", newHistoryAt } = options;
    this.#file = file;
    this.#sessions = sessions;
    this.#newHistoryAt = newHistoryAt;
    const database = openReader(file, CACHE_KIB);
    this.#database = database;
    database.exec("BEGIN");
    const [meta, counts] = readMeta(database, file);
    const { applied: position, ...rest } = meta;
    this.header = { format: formatsAt(rest.level).snapshot, position, epochs, ...rest, ...counts };
    const { owners, ...countedSessions } = this.#measureSessions();
    this.#owners = owners;
    const { nodesBytes, ...counted } = this.#measureNodes();
    const tailBytes = SEAL_BYTES + DIGEST_BYTES + SEAL_BYTES + LAST_ZXID_BYTES + SEAL_BYTES;
    const headBytes = this.#headBytes(countedSessions.sessionCount);
    const sizeBytes = headBytes + nodesBytes + LENGTH_BYTES + END_PATH.length + tailBytes;
    this.content = { ...counted, ...countedSessions, sizeBytes };
    this.#nodes = new NodeRuns(database, file);
  }

  /** Undefined after the last chunk. */
  next(): Buffer<ArrayBuffer> | undefined {
    for (;;) {
      const chunk = this.#chunks.take();
      if (chunk !== undefined || this.#phase === "ended") return chunk;
      if (this.#phase === "head") this.#putHead();
      else if (!this.#nodes.next((row, id) => this.#isTaken(row, kindOf(row)) && this.#putNode(row, id)))
        this.#putTail();
    }
  }

  close(): void {
    this.#database.close();
  }

  #isTaken(row: Buffer, kind: NodeKind): boolean {
    if (kind !== "ephemeral" || this.#owners === undefined) return true;
    const owner = RowOffset.stat + StatOffset.ephemeralOwner;
    return this.#owners.has(sessionIdFromHalves(row.readInt32BE(owner), row.readInt32BE(owner + 4)));
  }

  /** The sessions that are in the stream. */
  *#exportedSessions(): IterableIterator<ExportedSession> {
    if (this.#sessions === "left out") return;
    for (const [high, low, timeoutMs, passwordHash] of readSessions(this.#database, this.#file)) {
      // A session with the timeout 0 is ending: that is decided, and a part of its nodes is gone.
      const isTaken =
        this.#sessions === "kept" || (timeoutMs > 0 && derivedPasswordHash(high, low).equals(passwordHash));
      if (isTaken) yield [high, low, timeoutMs];
    }
  }

  #measureSessions(): SessionCounts & { readonly owners: ReadonlySet<bigint> | undefined } {
    let [sessionCount, shortestTimeoutMs] = [0, Number.POSITIVE_INFINITY];
    const owners = this.#sessions === "kept" ? undefined : new Set<bigint>();
    for (const [high, low, timeoutMs] of this.#exportedSessions()) {
      sessionCount++;
      shortestTimeoutMs = Math.min(shortestTimeoutMs, timeoutMs);
      owners?.add(sessionIdFromHalves(high, low));
    }
    const leftOutSessionCount = this.header.sessionCount - sessionCount;
    return {
      owners,
      sessionCount,
      leftOutSessionCount,
      shortestTimeoutMs: sessionCount === 0 ? 0 : shortestTimeoutMs,
    };
  }

  #headBytes(sessionCount: number): number {
    let bytes = APACHE_HEADER_BYTES + COUNT_BYTES + sessionCount * APACHE_SESSION_BYTES + COUNT_BYTES;
    for (const [, content] of readAcls(this.#database, this.#file)) bytes += KEY_BYTES + encodeAcl(content).length;
    return bytes;
  }

  #measureNodes(): Omit<SnapshotContent, keyof SessionCounts | "sizeBytes"> & { readonly nodesBytes: number } {
    const runs = new NodeRuns(this.#database, this.#file);
    const paths = this.#paths;
    let [nodesBytes, dataBytesMax, leftOutCount, ttlCount] = [0, 0, 0, 0];
    const measure = (row: Buffer, id: number): void => {
      const kind = kindOf(row);
      const parentId = row.readDoubleBE(RowOffset.parentId);
      const parent = paths.placeOf(parentId);
      if (parent === -1 && parentId !== 0) throw this.#damaged(id, "its parent is missing");
      if (!this.#isTaken(row, kind)) {
        leftOutCount++;
        if (this.#newHistoryAt !== undefined) this.#bereaved.add(parent);
        return;
      }
      if (kind === "ttl") ttlCount++;
      const nameEnd = dataStart(row, 0);
      const place = paths.add(id, parent, row, RowOffset.name, nameEnd);
      const pathLength = paths.pathLength(place);
      if (this.#newHistoryAt !== undefined && pathLength === CONFIG_PATH.length && this.#isConfig(place))
        this.#emptied = place;
      const dataLength = this.#emptied === place ? 0 : row.length - nameEnd;
      nodesBytes += LENGTH_BYTES + pathLength;
      nodesBytes += LENGTH_BYTES + dataLength + KEY_BYTES + APACHE_STAT_BYTES;
      dataBytesMax = Math.max(dataBytesMax, dataLength);
    };
    while (runs.next(measure));
    if (runs.count !== this.header.nodeCount) {
      throw damagedState(this.#file, "table nodes", `${runs.count} rows where there were ${this.header.nodeCount}`);
    }
    return { nodesBytes, nodeCount: runs.count - leftOutCount, leftOutCount, ttlCount, dataBytesMax };
  }

  #isConfig(place: number): boolean {
    const path = Buffer.alloc(CONFIG_PATH.length);
    this.#paths.writePath(place, path, path.length);
    return path.equals(CONFIG_PATH);
  }

  #putHead(): void {
    const head = Buffer.alloc(APACHE_HEADER_BYTES + COUNT_BYTES);
    head.writeUInt32BE(APACHE_MAGIC, 0);
    head.writeUInt32BE(APACHE_VERSION, 4);
    head.writeBigInt64BE(-1n, 8);
    head.writeUInt32BE(this.content.sessionCount, APACHE_HEADER_BYTES);
    this.#put(head);
    for (const [high, low, timeoutMs] of this.#exportedSessions()) {
      const session = Buffer.alloc(APACHE_SESSION_BYTES);
      session.writeInt32BE(high, 0);
      session.writeInt32BE(low, 4);
      session.writeInt32BE(timeoutMs, 8);
      this.#put(session);
    }
    const acls = [...readAcls(this.#database, this.#file)];
    const count = Buffer.alloc(COUNT_BYTES);
    count.writeUInt32BE(acls.length);
    this.#put(count);
    for (const [id, content] of acls) {
      this.#put(keyOf(id));
      this.#put(encodeAcl(content));
    }
    this.#phase = "nodes";
  }

  #putNode(row: Buffer, id: number): void {
    const node = this.#node;
    const aclId = viewNode(row, node);
    const place = this.#place++;
    const length = this.#paths.pathLength(place);
    if (this.#path.length < LENGTH_BYTES + length) this.#path = Buffer.allocUnsafe(2 * (LENGTH_BYTES + length));
    const path = this.#path.subarray(0, LENGTH_BYTES + length);
    path.writeInt32BE(length, 0);
    this.#paths.writePath(place, path.subarray(LENGTH_BYTES), length);
    this.#put(path);
    const { hasData, data, stat } = node;
    if (!hasData && data.end > data.start) throw this.#damaged(id, "it has data and says that it has none");
    const dataEnd = place === this.#emptied ? data.start : data.end;
    this.#put(int(hasData ? dataEnd - data.start : NULL_LENGTH));
    this.#put(data.bytes, data.start, dataEnd);
    this.#put(keyOf(aclId));
    this.#put(stat.bytes, stat.start, stat.start + STAT_LENGTHS_START);
    const rest = stat.start + STAT_LENGTHS_START + STAT_LENGTHS_BYTES;
    if (this.#newHistoryAt !== undefined && this.#bereaved.has(place)) {
      this.#put(stat.bytes, rest, stat.start + STAT_BYTES - ZXID_BYTES);
      this.#put(longOf(this.#newHistoryAt));
    } else this.#put(stat.bytes, rest, stat.start + STAT_BYTES);
  }

  #putTail(): void {
    this.#put(field(Buffer.from(END_PATH)));
    this.#seal();
    // There is none that Apache could compare: it computes its own from here on.
    const digest = Buffer.alloc(DIGEST_BYTES);
    digest.writeInt32BE(APACHE_DIGEST_VERSION, 8);
    this.#put(digest);
    this.#seal();
    this.#put(longOf(this.#newHistoryAt ?? this.header.position.zxid));
    this.#seal();
    this.#chunks.end();
    this.#phase = "ended";
  }

  #seal(): void {
    const sum = Buffer.alloc(8);
    sum.writeBigInt64BE(BigInt(this.#sum.value));
    this.#put(sum);
    this.#put(field(Buffer.from(END_PATH)));
  }

  #put(bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    this.#sum.add(bytes, start, end);
    this.#chunks.put(bytes, start, end);
  }

  #damaged(id: number, found: string): Error {
    return damagedState(this.#file, `table nodes, row ${id}`, found);
  }
}

function kindOf(row: Buffer): NodeKind {
  const owner = RowOffset.stat + StatOffset.ephemeralOwner;
  return nodeKind(row.readInt32BE(owner), row.readInt32BE(owner + 4));
}

/** A list with its count, from the form that it has in a state file. */
function encodeAcl(content: string): Buffer {
  const entries = JSON.parse(content) as [number, string, string][];
  const parts: Buffer[] = [int(entries.length)];
  for (const [perms, scheme, id] of entries) {
    const permissions = Buffer.alloc(PERMISSIONS_BYTES);
    permissions.writeInt32BE(perms);
    parts.push(permissions, field(Buffer.from(scheme)), field(Buffer.from(id)));
  }
  return Buffer.concat(parts);
}

function longOf(zxid: Zxid): Buffer {
  const bytes = Buffer.alloc(LAST_ZXID_BYTES);
  bytes.writeBigInt64BE(BigInt(zxid));
  return bytes;
}

function keyOf(id: number): Buffer {
  const bytes = Buffer.alloc(KEY_BYTES);
  bytes.writeUInt32BE(id, 4);
  return bytes;
}
