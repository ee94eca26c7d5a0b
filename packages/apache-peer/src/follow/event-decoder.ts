import { assertNever, parseZxid, type Zxid } from "@zooid/model";
import { type ApacheSnapshotParts, apacheTransaction, apacheZxid } from "@zooid/wire/apache";
import { ApachePeerError } from "../core/peer-error.ts";
import { SnapshotStream } from "../core/snapshot-stream.ts";
import type { LinkNote } from "../edge/link-note.ts";
import { RecordKind, recordsOf } from "../edge/spool-record.ts";
import type { FollowEvent } from "./follow-event.ts";

/** Makes events of the records of a link. */
export class EventDecoder {
  readonly #fieldBytesMax: number;
  readonly #events: FollowEvent[] = [];
  #snapshot: SnapshotStream | undefined;

  constructor(fieldBytesMax: number) {
    this.#fieldBytesMax = fieldBytesMax;
  }

  /**
   * The events of a batch, each made when it is asked for.
   *
   * @throws ApachePeerError where the link has failed, or a transaction is of no known type
   */
  *decode(batch: Buffer): Generator<FollowEvent, void, undefined> {
    for (const { kind, body } of recordsOf(batch)) {
      switch (kind) {
        case RecordKind.TRANSACTION:
          yield transactionOf(body);
          break;
        case RecordKind.SNAPSHOT_BYTES:
          this.#snapshot?.take(body);
          yield* this.#events.splice(0);
          break;
        default:
          yield this.#noted(JSON.parse(body.toString()) as LinkNote);
      }
    }
  }

  #noted(note: LinkNote): FollowEvent {
    switch (note.kind) {
      case "diff":
        return { kind: "continued" };
      case "snapshot":
        this.#snapshot = new SnapshotStream(this.#parts(), this.#fieldBytesMax);
        return { kind: "snapshot", zxid: parseZxid(note.zxid) };
      case "snapshot-end":
        this.#snapshot = undefined;
        return { kind: "snapshot-end", zxid: parseZxid(note.zxid) };
      case "disconnected":
        this.#snapshot = undefined;
        return { ...note, error: new ApachePeerError(note.error) };
      case "no-leader":
        return {
          kind: "no-leader",
          failures: note.failures.map(({ address, error }) => ({ address, error: new ApachePeerError(error) })),
        };
      case "failed":
        throw new ApachePeerError(note.error);
      case "connected":
      case "up-to-date":
      case "synced":
        return note;
      default:
        return assertNever(note);
    }
  }

  #parts(): ApacheSnapshotParts {
    const events = this.#events;
    return {
      session: (id, timeoutMs) => void events.push({ kind: "session", id, timeoutMs }),
      acl: (key, acl) => void events.push({ kind: "acl", key, acl }),
      node: (path, data, aclKey, stat) => void events.push({ kind: "node", path: path.toString(), data, aclKey, stat }),
      rest: () => {},
    };
  }
}

function transactionOf(bytes: Buffer): FollowEvent {
  try {
    const transaction = apacheTransaction(bytes);
    return { kind: "transaction", zxid: Number(transaction.zxid) as Zxid, transaction, bytes };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const zxid = apacheZxid(bytes);
    const name = zxid === undefined ? "a transaction" : `transaction 0x${BigInt.asUintN(64, zxid).toString(16)}`;
    throw new ApachePeerError({ code: "MALFORMED", found: `${name}, which cannot be read: ${error.message}` });
  }
}
