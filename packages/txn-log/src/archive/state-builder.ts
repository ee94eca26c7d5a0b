import { assert, formatZxid, type TxnDecoder } from "@zooid/model/storage";
import { storeErrorOf } from "../disk/database.ts";
import { SnapshotBuilder } from "../snapshots/snapshot-builder.ts";
import { StateCheckpoint } from "../state/state-checkpoint.ts";
import { loadStateFile, removeStateFile, StateFile } from "../state/state-file.ts";
import { SNAPSHOT_CHUNK_BYTES, type StateMeta, type StateSink } from "../state/state-store.ts";
import type { ArchiveFile } from "./archive-file.ts";
import type { BaseManifest } from "./base-manifest.ts";

/** Where a built state stands. */
export interface BuiltState extends StateMeta {
  readonly nodeCount: number;
  readonly sessionCount: number;
}

/**
 * A state file that is made from an archive, and follows it: a base, then file after file. It is
 * apart from any log. Each file is one transaction, so that the state stands at the end of one of
 * them, whatever fails; its memory is that of a checkpoint.
 */
export class StateBuilder implements Disposable {
  readonly #state: StateFile;
  readonly #checkpoint: StateCheckpoint;
  #hasFailed = false;

  /**
   * Opens the state file of an earlier one; what a crash left unfinished is undone.
   *
   * @throws StoreError for a file that is no state file, or is damaged
   */
  constructor(file: string, decoder: TxnDecoder) {
    this.#state = opened(file);
    this.#checkpoint = new StateCheckpoint(this.#state, decoder);
  }

  get meta(): BuiltState {
    return { ...this.#state.meta, ...this.#state.counts };
  }

  /** Whether a file continues this state: its entries follow on the same history. */
  isContinuedBy(archive: ArchiveFile): boolean {
    const { zxid, chain } = this.#state.meta.applied;
    const { after } = archive.footer;
    return after.zxid === zxid ? after.chain === chain : archive.chainAt(zxid) === chain;
  }

  /**
   * Adds the entries of a file that {@link isContinuedBy}, and that was verified. Durable when it
   * returns. After a failure this builder is of no further use, and its file stands where it stood.
   *
   * @throws StoreError and InvariantError
   */
  add(archive: ArchiveFile): void {
    assert(!this.#hasFailed, "a builder that has failed is opened again");
    const { end, digestHigh, digestLow } = archive.footer;
    const { applied, ensembleId } = this.#state.meta;
    assert(
      end.zxid > applied.zxid,
      `a file that ends at ${formatZxid(end.zxid)} continues ${formatZxid(applied.zxid)}`,
    );
    this.#hasFailed = true;
    this.#state.begin();
    this.#checkpoint.begin();
    archive.walk(applied.zxid, (zxid, bytes, start, stop) => this.#checkpoint.add(zxid, bytes, start, stop));
    this.#checkpoint.end();
    const { nextNodeId, level } = this.#checkpoint;
    this.#state.commit({ applied: end, digestHigh, digestLow, ensembleId, nextNodeId, level });
    this.#checkpoint.release();
    this.#hasFailed = false;
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#state.close();
  }
}

function opened(file: string): StateFile {
  try {
    return new StateFile(file);
  } catch (cause) {
    throw storeErrorOf(cause, file);
  }
}

/** Makes the state file of a base, part by part. */
export class BaseBuilder {
  readonly #builder: SnapshotBuilder;

  /** @param file must not exist */
  constructor(file: string, { position, epochs }: Pick<BaseManifest, "position" | "epochs">) {
    this.#builder = new SnapshotBuilder(file, { position, epochs, ensembleId: "" });
  }

  /** @throws StoreError where it is not the next part, or damaged */
  add(part: Buffer): void {
    for (let at = 0; at < part.length; at += SNAPSHOT_CHUNK_BYTES)
      this.#builder.add(part.subarray(at, Math.min(part.length, at + SNAPSHOT_CHUNK_BYTES)));
  }

  /**
   * The last part is added: the file is whole and durable.
   *
   * @throws StoreError where it was not the last one
   */
  finish(): void {
    this.#builder.finish();
  }

  /** Leaves nothing behind. */
  abandon(): void {
    this.#builder.abandon();
  }
}

/** Hands over a state file's content, each row checked. @throws StoreError */
export function readBuiltState(file: string, sink: StateSink): StateMeta {
  return loadStateFile(file, sink);
}

export function removeBuiltState(file: string): void {
  removeStateFile(file);
}
