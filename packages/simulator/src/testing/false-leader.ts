import {
  type Chain,
  clearTxnOp,
  composeZxid,
  type EntriesMessage,
  ErrorCode,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type PeerMessage,
  serverId,
  writeFrameHeader,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import fc from "fast-check";
import { NOTHING, Script } from "./script.ts";

/** Numbers that a message may hold, those near what a server is at among them. */
const small = fc.integer({ min: 0, max: 4 });
const epoch = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(1, 2) }, small, fc.constantFrom(2 ** 21 - 1, 2 ** 52));
const zxid = fc
  .tuple(fc.constantFrom(0, 1, 1, 1, 2, 2 ** 21 - 1), fc.oneof(small, fc.constantFrom(2 ** 31, 2 ** 32 - 1)))
  .map(([high, low]) => (high * 2 ** 32 + low) as Zxid);
const chain = fc.constantFrom(0n, 1n, 2n ** 63n).map((value) => value as Chain);
const position = fc.oneof(fc.constant(NOTHING), fc.record({ zxid, chain }));
const ensembleId = fc.constantFrom("", "ours", "another", "x".repeat(100_000));
const bytes = fc.uint8Array({ maxLength: 40 });
const number = fc.oneof(small, fc.maxSafeNat());

/** One frame: a zxid, a length and a record, which may be a transaction. */
const entry = fc.record({
  zxid: fc.oneof({ weight: 4, arbitrary: small.map((counter) => composeZxid(1, counter)) }, zxid),
  record: fc.oneof(fc.constant(transaction()), bytes),
});

const entries = fc
  .record({
    epoch,
    previous: zxid,
    committed: zxid,
    check: number,
    list: fc.array(entry, { maxLength: 3 }),
    /** The zxid of a run without entries, where nothing else gives it. */
    claimed: zxid,
  })
  .map(({ list, claimed, ...header }): PeerMessage => {
    const frames = Buffer.concat(list.map(({ zxid: at, record }) => frameOf(at, record)));
    const run = { bytes: frames, start: 0, end: frames.length };
    const [first, last] = [list[0]?.zxid ?? claimed, list.at(-1)?.zxid ?? claimed];
    return { kind: "entries", ...header, first, last, count: list.length, ...run };
  })
  // A run whose frames do not rise never gets past the decoder.
  .filter((message) => message.kind !== "entries" || rises(message));

const lies: fc.Arbitrary<PeerMessage> = fc.oneof(
  fc.record({ kind: fc.constant("leader-info" as const), epoch, incarnation: number, ensembleId }),
  fc.record({
    kind: fc.constant("sync-begin" as const),
    epoch,
    mode: fc.constantFrom("diff" as const, "trunc" as const, "snap" as const),
    from: position,
    epochs: fc.array(fc.record({ epoch, first: number, last: number }), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant("snapshot-chunk" as const),
    index: small,
    isLast: fc.boolean(),
    bytes: fc.constant(new Uint8Array(4)),
    start: fc.constant(0),
    end: fc.constant(4),
  }),
  { weight: 4, arbitrary: entries },
  fc.record({
    kind: fc.constant("new-leader" as const),
    epoch,
    through: zxid,
    endsAmnesia: fc.boolean(),
    ensembleId,
    config: fc.option(bytes, { nil: undefined }),
    committedConfig: fc.option(bytes, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant("up-to-date" as const), epoch, committed: zxid }),
  fc.record({ kind: fc.constant("commit" as const), epoch, committed: zxid }),
  fc.record({
    kind: fc.constant("ping" as const),
    epoch,
    check: number,
    committed: zxid,
    lacksRoom: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("leadership-transfer" as const),
    epoch,
    successor: fc.constantFrom(0, 1, 2, 9).map(serverId),
  }),
  fc.record({
    kind: fc.constant("refuse" as const),
    reason: fc.constantFrom("not-leading" as const, "epoch-low" as const, "diverged" as const, "unable" as const),
    text: fc.string(),
  }),
  fc.record({ kind: fc.constant("revalidated" as const), sequence: number, isValid: fc.boolean() }),
  fc.record({ kind: fc.constant("sync-reply" as const), sequence: number, readAt: zxid }),
);

/** The messages of a true leader, as far as the lies let it come. */
const TRUTH: readonly PeerMessage[] = [
  { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "ours" },
  { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] },
  {
    kind: "new-leader",
    epoch: 1,
    through: ZXID_NONE,
    endsAmnesia: false,
    ensembleId: "",
    config: undefined,
    committedConfig: undefined,
  },
  { kind: "up-to-date", epoch: 1, committed: ZXID_NONE },
  entryOf(1),
  entryOf(2),
  { kind: "commit", epoch: 1, committed: composeZxid(1, 2) },
];

/**
 * Whatever a leader sends to its learner, the learner does not fail: it continues, or ends the link
 * with an event. Each run begins as with a leader that is one, and goes over to lies at some step.
 */
export function surviveFalseLeader(numRuns: number): void {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: TRUTH.length }),
      fc.array(lies, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.boolean(),
      (truths, said, isAtOnce, isSecond) => {
        const script = new Script({ windowBytes: 200 });
        script.followsPeer();
        for (const message of TRUTH.slice(0, truths)) script.leads(script.peer, message);
        if (isSecond) script.leadsAgain(2);
        for (const message of said) {
          if (!script.peer.isLinked) break;
          script.peer.send(message);
          if (!isAtOnce) script.run();
        }
        script.run(1000);
      },
    ),
    { numRuns },
  );
}

/** An entry whose transaction refuses a request. */
export function entryOf(counter: number, epoch = 1, op: number = OpCode.ERROR): EntriesMessage {
  const at = composeZxid(epoch, counter);
  const frame = frameOf(at, transaction(op));
  const run = { first: at, last: at, count: 1, bytes: frame, start: 0, end: frame.length };
  const previous = counter === 1 ? ZXID_NONE : composeZxid(epoch, counter - 1);
  return { kind: "entries", epoch, previous, ...run, committed: ZXID_NONE, check: 0 };
}

/** A transaction of one operation; by default it refuses a request. */
function transaction(kind: number = OpCode.ERROR): Uint8Array {
  const encoder = new TxnBatchEncoder();
  const op = newTxnOp();
  clearTxnOp(op, kind);
  op.code = ErrorCode.NO_NODE;
  encoder.begin({ ...newTxnHeader(), op: OpCode.DELETE });
  encoder.op(op);
  encoder.end();
  const { bytes, end } = encoder.take();
  return bytes.slice(FRAME_HEADER_BYTES, end);
}

function frameOf(at: Zxid, record: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + record.length);
  writeFrameHeader(frame, 0, at, record.length);
  frame.set(record, FRAME_HEADER_BYTES);
  return frame;
}

function rises({ previous, bytes: frames, end }: Extract<PeerMessage, { kind: "entries" }>): boolean {
  let last = previous;
  for (let at = 0; at < end; at += FRAME_HEADER_BYTES + frameLength(frames, at)) {
    const next = frameZxid(frames, at);
    if (next <= last) return false;
    last = next;
  }
  return true;
}
