import { formatsAt } from "@zooid/model/storage";
import { type Database, openReader, type Statement } from "../disk/database.ts";
import type { EpochRange } from "../log/txn-log.ts";
import { RowOffset, sealRow } from "../state/node-row.ts";
import { NodeRuns } from "../state/node-runs.ts";
import {
  checkedSession,
  damagedState,
  readAcls,
  readMeta,
  SELECT_SESSIONS,
  type SessionRow,
} from "../state/state-rows.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import {
  encodeHeader,
  encodeTrailer,
  SESSION_RECORD_BYTES,
  SNAPSHOT_MAGIC,
  type SnapshotHeader,
  SnapshotRecord,
} from "./snapshot-format.ts";

const CACHE_KIB = 1024;
const SESSION_ROWS = 1024;

/**
 * Reads a state file within one read transaction, as chunks. Every row is checked: what is damaged
 * here is not handed on.
 */
export class SnapshotEncoder {
  readonly header: SnapshotHeader;
  readonly #file: string;
  readonly #database: Database;
  readonly #sessions: Statement;
  readonly #nodes: NodeRuns;
  readonly #chunks = new ChunkWriter();
  readonly #contents: ReadonlyMap<number, string>;
  /** The stream's number of an access list, by the file's. */
  readonly #aclIds = new Map<number, number>();
  #lastSession: readonly [high: number, low: number] = [-(2 ** 40), 0];
  #sessionCount = 0;
  #phase: "sessions" | "nodes" | "trailer" | "ended" = "sessions";

  /** @param epochs the epoch table up to where the state stands */
  constructor(file: string, epochs: readonly EpochRange[]) {
    this.#file = file;
    const database = openReader(file, CACHE_KIB);
    this.#database = database;
    database.exec("BEGIN");
    const [meta, counts] = readMeta(database, file);
    this.#contents = new Map(readAcls(database, file));
    this.#sessions = database
      .prepare(`${SELECT_SESSIONS} WHERE (high, low) > (?, ?) ORDER BY high, low LIMIT ${SESSION_ROWS}`)
      .raw();
    this.#nodes = new NodeRuns(database, file);
    const { applied: position, digestHigh, digestLow, ensembleId, nextNodeId, level } = meta;
    const { nodeCount, sessionCount } = counts;
    const format = formatsAt(level).snapshot;
    this.header = {
      format,
      ensembleId,
      position,
      epochs,
      digestHigh,
      digestLow,
      nextNodeId,
      level,
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
    const rows = this.#sessions.all(...this.#lastSession) as unknown as SessionRow[];
    for (const row of rows) {
      const [high, low, timeoutMs, passwordHash] = checkedSession(row, this.#file);
      const body = Buffer.allocUnsafe(SESSION_RECORD_BYTES + passwordHash.length);
      body.writeInt32BE(high, 0);
      body.writeInt32BE(low, 4);
      body.writeUInt32BE(timeoutMs, 8);
      body.set(passwordHash, SESSION_RECORD_BYTES);
      this.#record(SnapshotRecord.SESSION, body);
      this.#lastSession = [high, low];
    }
    this.#sessionCount += rows.length;
    if (rows.length < SESSION_ROWS) this.#phase = "nodes";
  }

  #putNodes(): void {
    if (!this.#nodes.next((row, id) => this.#putNode(row, id))) this.#phase = "trailer";
  }

  #putNode(row: Buffer, id: number): void {
    const stored = row.readUInt32BE(RowOffset.aclId);
    const aclId = this.#aclIds.get(stored) ?? this.#putAcl(stored, id);
    if (aclId !== stored) {
      row.writeUInt32BE(aclId, RowOffset.aclId);
      sealRow(row, 0);
    }
    this.#record(SnapshotRecord.NODE, row);
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
    const nodeCount = this.#nodes.count;
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
