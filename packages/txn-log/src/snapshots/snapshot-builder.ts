import { rmSync } from "node:fs";
import { formatZxid, knowsLevel, type LevelRange, OWN_LEVELS, unknownLevelText } from "@zooid/model/storage";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import type { TestBreak } from "../disk/test-break.ts";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";
import { isWhole, RowOffset } from "../state/node-row.ts";
import { isAcl, removeStateFile, StateFile } from "../state/state-file.ts";
import type { StateSession } from "../state/state-store.ts";
import { SnapshotDecoder, type SnapshotParts } from "./snapshot-decoder.ts";
import { refused, type SnapshotHeader } from "./snapshot-format.ts";

/** The facts that a snapshot must have of itself. */
export interface SnapshotExpectation {
  readonly position: LogPosition;
  readonly epochs: readonly EpochRange[] | undefined;
  /** Empty: any. */
  readonly ensembleId: string;
  /** The feature levels that may come. Default: those of this version. */
  readonly levels?: LevelRange | undefined;
}

/**
 * Makes a new state file from a snapshot's chunks, in one transaction: pages beyond the old end of
 * a file need no journal, so each is written once, as soon as the page cache is full. Durable in
 * all its bytes only with {@link finish}.
 */
export class SnapshotBuilder implements SnapshotParts {
  readonly #file: string;
  readonly #expected: SnapshotExpectation;
  readonly #state: StateFile;
  readonly #decoder: SnapshotDecoder = new SnapshotDecoder(this);
  #isOpen = true;
  #lastNode = 0;
  #nextNodeId = 0;
  #aclCount = 0;

  constructor(file: string, expected: SnapshotExpectation, testBreak?: TestBreak) {
    this.#file = file;
    this.#expected = expected;
    this.#state = new StateFile(file, { make: "blank", testBreak });
  }

  add(chunk: Buffer): void {
    this.#decoder.add(chunk);
  }

  finish(): SnapshotHeader {
    const header = this.#decoder.end();
    const { position, digestHigh, digestLow, ensembleId, nextNodeId, level } = header;
    this.#state.commit({ applied: position, digestHigh, digestLow, ensembleId, nextNodeId, level });
    this.close();
    syncPath(this.#file);
    rmSync(`${this.#file}-journal`, { force: true });
    syncDirectoryOf(this.#file);
    return header;
  }

  /** Leaves nothing behind. */
  abandon(): void {
    this.close();
    removeStateFile(this.#file);
  }

  /** Undoes what is not finished; the file stays. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#state.close();
  }

  header({ position, epochs, ensembleId, nextNodeId, level }: SnapshotHeader): void {
    const expected = this.#expected;
    const { levels = OWN_LEVELS } = expected;
    if (level < 1 || !knowsLevel(levels, level)) {
      throw refused("its header", unknownLevelText("the state", level, levels));
    }
    if (position.zxid !== expected.position.zxid || position.chain !== expected.position.chain) {
      const place = `its header, which stands at ${formatZxid(position.zxid)}`;
      throw refused(place, `another history or place than the announced ${formatZxid(expected.position.zxid)}`);
    }
    if (expected.epochs !== undefined && !areEqual(epochs, expected.epochs)) {
      throw refused("its header", "another epoch table than the announced one");
    }
    if (expected.ensembleId !== "" && ensembleId !== "" && ensembleId !== expected.ensembleId) {
      throw refused("its header", `a state of ensemble ${ensembleId}, where this is ${expected.ensembleId}`);
    }
    this.#nextNodeId = nextNodeId;
  }

  session(session: Readonly<StateSession>): void {
    this.#state.openSession(session);
  }

  acl(id: number, content: string): void {
    if (!isAcl(content)) throw refused(`access list ${id}`, "it cannot be read");
    this.#state.addAcl(id, content);
    this.#aclCount = id;
  }

  node(row: Buffer): void {
    const place = `the node after ${this.#lastNode}`;
    if (!isWhole(row)) throw refused(place, "its sum does not match");
    const id = row.readDoubleBE(RowOffset.id);
    if (id <= this.#lastNode || id >= this.#nextNodeId) throw refused(place, `node ${id} is out of order`);
    const aclId = row.readUInt32BE(RowOffset.aclId);
    if (aclId < 1 || aclId > this.#aclCount) throw refused(place, "its access list is missing");
    this.#state.insertNode(id, row);
    this.#lastNode = id;
  }

  rest(): void {
    this.#state.endInserts();
  }
}

function areEqual(some: readonly EpochRange[], others: readonly EpochRange[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ epoch, first, last }, i) => {
      const other = others[i];
      return other?.epoch === epoch && other.first === first && other.last === last;
    })
  );
}
