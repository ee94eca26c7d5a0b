import { renameSync, rmSync } from "node:fs";
import type { TxnDecoder } from "@zooid/model";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import type { TestBreak } from "../disk/test-break.ts";
import type { EntrySink } from "../log/log-reader.ts";
import type { Pace } from "../threads/pace.ts";
import { StateCheckpoint } from "./state-checkpoint.ts";
import { removeStateFile, StateFile } from "./state-file.ts";
import type { StateSlice } from "./state-slices.ts";
import type { StateMeta } from "./state-store.ts";

/**
 * A state file that is written from the tree in memory, to take the place of a damaged one while
 * the server runs.
 *
 * ```
 * slices of the tree ─▶ state-<n>.db.new ─▶ entries applied meanwhile are checkpointed in ─▶ synced ─▶ renamed over state-<n>.db ─▶ synced
 * ```
 *
 * A crash leaves the old file up to the rename, and the new one from there on; a start removes what
 * is half made.
 */
export class StateRebuild {
  readonly #place: string;
  readonly #file: string;
  readonly #state: StateFile;
  #isClosed = false;

  /** @param place of the file that is replaced */
  constructor(place: string, testBreak?: TestBreak) {
    this.#place = place;
    this.#file = `${place}.new`;
    removeStateFile(this.#file);
    this.#state = new StateFile(this.#file, { make: "blank", testBreak });
  }

  add({ acls, sessions, rows }: StateSlice): void {
    for (const [id, content] of acls) this.#state.addAcl(id, content);
    for (const session of sessions) this.#state.openSession(session);
    for (const row of rows) this.#state.addNode(Buffer.from(row.buffer, row.byteOffset, row.length));
  }

  /**
   * Makes the file exact, and whole on the disk.
   *
   * @param nextNodeId nodes from here on are in no slice
   * @param level the feature level of the tree when the walk over it began
   * @param read hands over the entries after the walk over the tree began, and answers where they
   *   end
   * @returns how many nodes the entries changed
   */
  finish(parts: {
    readonly decoder: TxnDecoder;
    readonly pace: Pace;
    readonly nextNodeId: number;
    readonly level: number;
    readonly read: (sink: EntrySink) => Omit<StateMeta, "nextNodeId" | "level">;
  }): number {
    this.#state.endInserts();
    const checkpoint = new StateCheckpoint(this.#state, parts.decoder, undefined, parts.pace);
    checkpoint.beginCaptured(parts.nextNodeId, parts.level);
    const meta = parts.read((zxid, bytes, start, end) => {
      checkpoint.add(zxid, bytes, start, end);
      parts.pace.step(end - start);
    });
    const count = checkpoint.end();
    checkpoint.release();
    this.#state.commit({ ...meta, nextNodeId: checkpoint.nextNodeId, level: checkpoint.level });
    this.#close();
    rmSync(`${this.#file}-journal`, { force: true });
    syncPath(this.#file);
    return count;
  }

  /**
   * Puts the file in the place of the old one, which no connection may be writing. A journal of the
   * old file must not lie beside it.
   */
  switch(): void {
    rmSync(`${this.#place}-journal`, { force: true });
    syncDirectoryOf(this.#place);
    renameSync(this.#file, this.#place);
    syncDirectoryOf(this.#place);
  }

  /** Leaves nothing behind. */
  abandon(): void {
    this.#close();
    removeStateFile(this.#file);
  }

  #close(): void {
    if (!this.#isClosed) this.#state.close();
    this.#isClosed = true;
  }
}
