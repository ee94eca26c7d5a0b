import { ChunkWriter } from "./chunk-writer.ts";
import { type Database, openReader, type Statement } from "./database.ts";
import { isWhole, RowOffset, sealRow } from "./node-row.ts";
import {
  encodeHeader,
  encodeTrailer,
  SESSION_RECORD_BYTES,
  SNAPSHOT_FORMAT,
  SNAPSHOT_MAGIC,
  type SnapshotHeader,
  SnapshotRecord,
} from "./snapshot-format.ts";
import { damagedState, readAcls, readMeta } from "./state-file.ts";
import type { EpochRange } from "./txn-log.ts";

const CACHE_KIB = 1024;
const SESSION_ROWS = 1024;
/** Nodes of one run at most, and their bytes, unless a single one has more. */
const RUN_ROWS_MAX = 1024;
const RUN_BYTES_MAX = 256 * 1024;

type SessionRow = [high: number, low: number, timeoutMs: number, passwordHash: Buffer];

/**
 * Reads a state file within one read transaction, as chunks. Every row is checked: what is damaged here is not handed on.
 *
 * As in the log's reader, SQLite puts the rows of a run into one BLOB, for a buffer for each would cost more than all else.
 */
export class SnapshotEncoder {
  readonly header: SnapshotHeader;
  readonly #file: string;
  readonly #database: Database;
  readonly #sessions: Statement;
  readonly #sizes: Statement;
  readonly #run: Statement;
  readonly #chunks = new ChunkWriter();
  readonly #contents: ReadonlyMap<number, string>;
  /** The stream's number of an access list, by the file's. */
  readonly #aclIds = new Map<number, number>();
  #lastSession: readonly [high: number, low: number] = [-(2 ** 40), 0];
  #lastNode = 0;
  #sessionCount = 0;
  #nodeCount = 0;
  #phase: "sessions" | "nodes" | "trailer" | "ended" = "sessions";

  /** @param epochs the epoch table up to where the state stands */
  constructor(file: string, epochs: readonly EpochRange[]) {
    this.#file = file;
    const database = openReader(file, CACHE_KIB);
    this.#database = database;
    database.exec("BEGIN");
    const [meta, counts] = readMeta(database, file);
    this.#contents = new Map(readAcls(database));
    const after = "FROM sessions WHERE (high, low) > (?, ?) ORDER BY high, low";
    this.#sessions = database
      .prepare(`SELECT high, low, timeout_ms, password_hash ${after} LIMIT ${SESSION_ROWS}`)
      .raw();
    const rows = `SELECT id, length(node) AS size FROM nodes WHERE id > ? ORDER BY id LIMIT ${RUN_ROWS_MAX}`;
    this.#sizes = database.prepare(`SELECT json_group_array(id), json_group_array(size) FROM (${rows})`).raw();
    const all = "SELECT CAST(group_concat(node, '') AS BLOB) FROM nodes WHERE id > ? AND id <= ?";
    this.#run = database.prepare(all).pluck();
    const { applied: position, digestHigh, digestLow, ensembleId, nextNodeId } = meta;
    const { nodeCount, sessionCount } = counts;
    const format = SNAPSHOT_FORMAT;
    this.header = {
      format,
      ensembleId,
      position,
      epochs,
      digestHigh,
      digestLow,
      nextNodeId,
      nodeCount,
      sessionCount,
    };
    const magic = Buffer.from(SNAPSHOT_MAGIC);
    this.#chunks.put(magic, 0, magic.length);
    this.#record(SnapshotRecord.HEADER, encodeHeader(this.header));
  }

  /** Undefined after the last chunk. */
  next(): Buffer<ArrayBuffer> | undefined {
    for (;;) {
      const chunk = this.#chunks.take();
      if (chunk !== undefined || this.#phase === "ended") return chunk;
      if (this.#phase === "sessions") this.#putSessions();
      else if (this.#phase === "nodes") this.#putNodes();
      else this.#putTrailer();
    }
  }

  close(): void {
    this.#database.close();
  }

  #putSessions(): void {
    const rows = this.#sessions.all(...this.#lastSession) as SessionRow[];
    for (const [high, low, timeoutMs, passwordHash] of rows) {
      const body = Buffer.allocUnsafe(SESSION_RECORD_BYTES + passwordHash.length);
      body.writeInt32BE(high, 0);
      body.writeInt32BE(low, 4);
      body.writeUInt32BE(timeoutMs, 8);
      passwordHash.copy(body, SESSION_RECORD_BYTES);
      this.#record(SnapshotRecord.SESSION, body);
      this.#lastSession = [high, low];
    }
    this.#sessionCount += rows.length;
    if (rows.length < SESSION_ROWS) this.#phase = "nodes";
  }

  #putNodes(): void {
    const found = this.#sizes.get(this.#lastNode) as [string, string];
    const [ids, sizes] = found.map((list) => JSON.parse(list)) as [number[], number[]];
    const count = countWithin(sizes, RUN_BYTES_MAX);
    if (count === 0) {
      this.#phase = "trailer";
      return;
    }
    const bytes = this.#run.get(this.#lastNode, ids[count - 1] ?? 0) as Buffer<ArrayBuffer>;
    let at = 0;
    for (let i = 0; i < count; i++) {
      const end = at + (sizes[i] ?? 0);
      this.#putNode(bytes, at, end, ids[i] ?? 0);
      at = end;
    }
    this.#nodeCount += count;
    // Given back at once: the collector, which sees no pressure in its own heap, would let many of them pile up.
    bytes.buffer.transfer(0);
  }

  #putNode(bytes: Buffer, start: number, end: number, id: number): void {
    const row = bytes.subarray(start, end);
    if (!isWhole(row) || row.readDoubleBE(RowOffset.id) !== id) {
      throw damagedState(this.#file, `table nodes, row ${id}`, "its sum does not match");
    }
    const stored = row.readUInt32BE(RowOffset.aclId);
    const aclId = this.#aclIds.get(stored) ?? this.#putAcl(stored, id);
    if (aclId !== stored) {
      row.writeUInt32BE(aclId, RowOffset.aclId);
      sealRow(row, 0);
    }
    this.#chunks.record(SnapshotRecord.NODE, bytes, start, end);
    this.#lastNode = id;
  }

  #putAcl(stored: number, node: number): number {
    const content = this.#contents.get(stored);
    if (content === undefined) {
      throw damagedState(this.#file, `table nodes, row ${node}`, "its access list is missing");
    }
    const id = this.#aclIds.size + 1;
    this.#aclIds.set(stored, id);
    this.#record(SnapshotRecord.ACL, Buffer.from(content));
    return id;
  }

  #putTrailer(): void {
    const { header } = this;
    const { digestHigh, digestLow } = header;
    const nodeCount = this.#nodeCount;
    const sessionCount = this.#sessionCount;
    this.#expectCount("nodes", nodeCount, header.nodeCount);
    this.#expectCount("sessions", sessionCount, header.sessionCount);
    const sum = this.#chunks.sum();
    this.#record(SnapshotRecord.TRAILER, encodeTrailer({ nodeCount, sessionCount, digestHigh, digestLow, sum }));
    this.#chunks.end();
    this.#phase = "ended";
  }

  #expectCount(table: string, found: number, expected: number): void {
    if (found === expected) return;
    throw damagedState(this.#file, `table ${table}`, `${found} rows where there were ${expected}`);
  }

  #record(kind: number, body: Uint8Array): void {
    this.#chunks.record(kind, body, 0, body.length);
  }
}

/** How many of the first sizes fit; one in any case, where there is one. */
function countWithin(sizes: readonly number[], bytesMax: number): number {
  let total = 0;
  let count = 0;
  for (const size of sizes) {
    total += size;
    if (count > 0 && total > bytesMax) break;
    count++;
  }
  return count;
}
