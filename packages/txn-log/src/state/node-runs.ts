import type { Database, Statement } from "../disk/database.ts";
import { isWhole, RowOffset } from "./node-row.ts";
import { damagedState } from "./state-rows.ts";

/** Nodes of one run at most, and their bytes, unless a single one has more. */
const RUN_ROWS_MAX = 1024;
const RUN_BYTES_MAX = 256 * 1024;

/**
 * Reads the nodes of a state file by ascending id, each checked, within the transaction that is
 * open.
 *
 * As in the log's reader, SQLite puts the rows of a run into one BLOB, for a buffer for each would
 * cost more than all else.
 */
export class NodeRuns {
  readonly #file: string;
  readonly #sizes: Statement;
  readonly #run: Statement;
  #lastNode = 0;
  #count = 0;

  constructor(database: Database, file: string) {
    this.#file = file;
    const rows = `SELECT id, length(node) AS size FROM nodes WHERE id > ? ORDER BY id LIMIT ${RUN_ROWS_MAX}`;
    this.#sizes = database.prepare(`SELECT json_group_array(id), json_group_array(size) FROM (${rows})`).raw();
    const all = "SELECT CAST(group_concat(node, '') AS BLOB) FROM nodes WHERE id > ? AND id <= ?";
    this.#run = database.prepare(all).pluck();
  }

  /** Nodes so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Hands over the next few; false when there were none left. A row is lent for the call, which may
   * change it.
   */
  next(visit: (row: Buffer, id: number) => void): boolean {
    const found = this.#sizes.get(this.#lastNode) as [string, string];
    const [ids, sizes] = found.map((list) => JSON.parse(list)) as [number[], number[]];
    const count = countWithin(sizes, RUN_BYTES_MAX);
    if (count === 0) return false;
    // None where a flipped bit has taken the value of each row.
    const bytes = (this.#run.get(this.#lastNode, ids[count - 1] ?? 0) ?? Buffer.alloc(0)) as Buffer<ArrayBuffer>;
    let at = 0;
    for (let i = 0; i < count; i++) {
      const end = at + (sizes[i] ?? 0);
      const row = bytes.subarray(at, end);
      const id = ids[i] ?? 0;
      if (!isWhole(row) || row.readDoubleBE(RowOffset.id) !== id) {
        throw damagedState(this.#file, `table nodes, row ${id}`, "its sum does not match");
      }
      visit(row, id);
      this.#lastNode = id;
      at = end;
    }
    this.#count += count;
    // Given back at once: the collector, which sees no pressure in its own heap, would let many of
    // them pile up.
    bytes.buffer.transfer(0);
    return true;
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
