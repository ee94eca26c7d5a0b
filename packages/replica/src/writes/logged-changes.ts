import {
  copySlice,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type LoggedRun,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { LoggedChanges as Changes } from "@zooid/zab";
import type { GroundParts } from "../parts/ground.ts";
import type { FeatureLevel } from "./feature-level.ts";
import type { MemberChanges } from "./member-changes.ts";

interface Parts extends GroundParts {
  readonly memberChanges: MemberChanges;
  readonly featureLevel: FeatureLevel;
}

/**
 * Finds the entries that change the configuration, or the feature level, when they are logged. Only
 * the header of each entry is read.
 */
export class LoggedChanges {
  readonly #parts: Parts;
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The changes in a run of entries, oldest first. At most the last one of a kind is under way; a
   * server that lags gets earlier ones as well.
   */
  changesIn({ bytes, start, end }: LoggedRun): Changes | undefined {
    const { entries } = this.#parts.tools;
    const header = this.#header;
    let changes: { configs: Uint8Array[]; raises: Changes["raises"][number][] } | undefined;
    for (let at = start; at < end; ) {
      const from = at + FRAME_HEADER_BYTES;
      const next = from + frameLength(bytes, at);
      entries.open(bytes, from, next, header);
      if (header.op === OpCode.RECONFIG || header.op === OpCode.RAISE_LEVEL) {
        changes ??= { configs: [], raises: [] };
        this.#add(changes, frameZxid(bytes, at));
      }
      at = next;
    }
    return changes;
  }

  /** Adds the opened entry's; a change that was refused has none. */
  #add(changes: { configs: Uint8Array[]; raises: Changes["raises"][number][] }, zxid: Zxid): void {
    const { featureLevel, memberChanges, tools } = this.#parts;
    const op = this.#op;
    if (!tools.entries.next(op)) return;
    if (op.op === OpCode.SET_DATA) {
      memberChanges.logged(zxid);
      changes.configs.push(copySlice(op.data));
    } else if (op.op === OpCode.RAISE_LEVEL) {
      featureLevel.logged(zxid);
      changes.raises.push({ level: op.version, zxid });
    }
  }
}
