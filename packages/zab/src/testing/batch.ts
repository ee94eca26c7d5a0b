import {
  CHAIN_NONE,
  composeZxid,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  InvariantError,
  writeFrameHeader,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { LoggedRun, SnapshotPort, ZabDurable, ZabLinks, ZabLog, ZabSinks } from "../events.ts";

/** For tests: a batch of entries that say their own counter, in an epoch. */
export function batchOf(epoch: number, ...counters: readonly number[]): FrameBatch {
  const records = counters.map((counter) => new TextEncoder().encode(`entry ${counter}`));
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + FRAME_HEADER_BYTES + record.length, 0));
  let at = 0;
  for (const [i, record] of records.entries()) {
    writeFrameHeader(bytes, at, composeZxid(epoch, counters[i] ?? 0), record.length);
    bytes.set(record, at + FRAME_HEADER_BYTES);
    at += FRAME_HEADER_BYTES + record.length;
  }
  return {
    first: composeZxid(epoch, counters[0] ?? 0),
    last: composeZxid(epoch, counters.at(-1) ?? 0),
    count: counters.length,
    bytes,
    end: bytes.length,
  };
}

function unused(what: string): () => never {
  return () => {
    throw new InvariantError(`${what} has no place in an ensemble of one`);
  };
}

/** For tests of an ensemble of one: sinks that are lists. */
export class RecordingSinks implements ZabSinks {
  readonly appended: { readonly run: LoggedRun; readonly generation: number }[] = [];
  readonly delivered: string[] = [];
  readonly zxids: Zxid[] = [];
  readonly released: FrameBatch[] = [];
  readonly served: number[] = [];
  readonly confirmations: number[] = [];
  durable: ZabDurable;
  readonly log: ZabLog;
  readonly links: ZabLinks = {
    dial: unused("a dial"),
    cancelDial: unused("a dial"),
    send: unused("a message"),
    refuse: unused("a refusal"),
    close: unused("a link"),
  };
  readonly snapshots: SnapshotPort = {
    open: unused("a snapshot"),
    start: unused("a snapshot"),
    credit: unused("a snapshot"),
    end: unused("a snapshot"),
    receive: unused("a snapshot"),
    chunk: unused("a snapshot"),
    abandon: unused("a snapshot"),
  };

  constructor(tail: Zxid = ZXID_NONE) {
    const at = { zxid: tail, chain: CHAIN_NONE };
    this.durable = {
      identity: { ensembleId: "", sid: 1, bootCount: 1 },
      promise: { epoch: 0, sid: 0, incarnation: 0 },
      currentEpoch: 0,
      tail: at,
      floor: at,
      commitHint: tail,
      epochs: [],
      amnesiac: false,
    };
    const sinks = this;
    this.log = {
      get durable() {
        return sinks.durable;
      },
      append: (run, generation) => this.appended.push({ run, generation }),
      setPromise: unused("a promise"),
      setCurrentEpoch: unused("an epoch"),
      setEnsembleId: unused("an id"),
      beginStage: unused("a stage"),
      stage: unused("a stage"),
      dropStage: unused("a stage"),
      flip: unused("a flip"),
      read: unused("a read"),
      chainAt: unused("a read"),
    };
  }

  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): boolean {
    this.zxids.push(zxid);
    this.delivered.push(new TextDecoder().decode(bytes.subarray(start, end)));
    return true;
  }

  release(batch: FrameBatch): void {
    this.released.push(batch);
  }

  applied(): Zxid {
    return this.zxids.at(-1) ?? this.durable.tail.zxid;
  }

  serve(epoch: number): void {
    this.served.push(epoch);
  }

  confirmed(round: number): void {
    this.confirmations.push(round);
  }

  readonly install: () => never = unused("a state");
  readonly successor: () => never = unused("a successor");
  readonly message: () => never = unused("a message");
  readonly touches: () => never = unused("a touch");
  readonly touched: () => never = unused("a touch");
  left(): void {}
  look(): void {}
  wanted(): void {}
  learnerLost(): void {}
  note(): void {}
}
