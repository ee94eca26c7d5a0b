import {
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  sliceText,
  type TxnHeader,
  type TxnOp,
  WireError,
  type Zxid,
} from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { zooid } from "../gen/txn.js";
import { TxnBatchEncoder, TxnReader } from "./txn-codec.ts";

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const small = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const id = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const bytes = fc.uint8Array({ maxLength: 200 });
const acl = fc.oneof(
  fc.constant(OPEN_ACL),
  fc.array(fc.record({ perms: int, scheme: fc.string(), id: fc.string() }), { minLength: 1, maxLength: 4 }),
);
const op = fc
  .record({
    op: int,
    node: id,
    parent: id,
    hasData: fc.boolean(),
    acl,
    ownerHigh: int,
    ownerLow: int,
    version: int,
    parentCversion: int,
    code: int,
    failedIndex: small,
    opCount: small,
    timeoutMs: small,
    path: bytes,
    data: bytes,
    passwordHash: bytes,
  })
  .map(({ path, data, passwordHash, ...rest }): TxnOp => {
    const slice = (content: Uint8Array) => ({ bytes: content, start: 0, end: content.length });
    return { ...rest, path: slice(path), data: slice(data), passwordHash: slice(passwordHash) };
  });
const header = fc.record({
  zxid: fc.integer({ min: 1, max: 2 ** 52 }).map((value) => value as Zxid),
  sessionHigh: int,
  sessionLow: int,
  cxid: int,
  timeMs: id,
  origin: small,
  originSeq: id,
  op: int,
  who: fc.uint8Array({ maxLength: 200 }).map((content) => ({ bytes: content, start: 0, end: content.length })),
});
const txns = fc.array(fc.record({ header, ops: fc.array(op, { maxLength: 5 }) }), { minLength: 1, maxLength: 5 });

function encode(list: typeof txns extends fc.Arbitrary<infer T> ? T : never) {
  const encoder = new TxnBatchEncoder(64);
  for (const txn of list) {
    encoder.begin(txn.header);
    for (const one of txn.ops) encoder.op(one);
    encoder.end();
  }
  return encoder.take();
}

function text({ who }: TxnHeader): string {
  return Buffer.from(who.bytes.subarray(who.start, who.end)).toString("hex");
}

function plain(value: TxnOp) {
  const content = ({ bytes: all, start, end }: TxnOp["path"]) => Buffer.from(all.subarray(start, end)).toString("hex");
  const data = value.hasData ? content(value.data) : null;
  return { ...value, path: content(value.path), data, passwordHash: content(value.passwordHash), acl: [...value.acl] };
}

test("what is encoded is read back, transaction by transaction and op by op", () => {
  fc.assert(
    fc.property(txns, (list) => {
      const batch = encode(list);
      const reader = new TxnReader();
      let at = 0;
      for (const txn of list) {
        const end = at + FRAME_HEADER_BYTES + frameLength(batch.bytes, at);
        const readHeader = newTxnHeader();
        readHeader.zxid = frameZxid(batch.bytes, at);
        reader.open(batch.bytes, at + FRAME_HEADER_BYTES, end, readHeader);
        expect({ ...readHeader, who: text(readHeader) }).toEqual({ ...txn.header, who: text(txn.header) });
        const readOp = newTxnOp();
        for (const expected of txn.ops) {
          expect(reader.next(readOp)).toBe(true);
          expect(plain(readOp)).toEqual(plain(expected));
        }
        expect(reader.next(readOp)).toBe(false);
        at = end;
      }
      expect(at).toBe(batch.end);
    }),
  );
});

test("any protobuf reader understands the records, and ours understands any writer's", () => {
  fc.assert(
    fc.property(txns, (list) => {
      const batch = encode(list);
      for (let at = 0, i = 0; at < batch.end; i++) {
        const end = at + FRAME_HEADER_BYTES + frameLength(batch.bytes, at);
        const record = batch.bytes.subarray(at + FRAME_HEADER_BYTES, end);
        const message = zooid.Txn.decode(record);
        const txn = list[i];
        if (txn === undefined) throw new Error("more records than transactions");
        expect(message.ops?.map((one) => [one.op, Buffer.from(one.path ?? []).toString("hex")])).toEqual(
          txn.ops.map((one) => [one.op, plain(one).path]),
        );
        expect(message.cxid).toBe(txn.header.cxid);
        expect(message.ops?.map((one) => one.acl?.entries ?? null)).toEqual(
          txn.ops.map((one) => (one.acl === OPEN_ACL ? null : one.acl.map((entry) => expect.objectContaining(entry)))),
        );
        const again = zooid.Txn.encode(message).finish();
        const reader = new TxnReader();
        const readHeader = newTxnHeader();
        reader.open(again, 0, again.length, readHeader);
        // Other writers put `who` behind the ops, where it is skipped.
        const { who: _, ...header } = { ...readHeader, zxid: txn.header.zxid };
        expect({ ...header, who: txn.header.who }).toEqual(txn.header);
        const readOp = newTxnOp();
        for (const expected of txn.ops) {
          expect(reader.next(readOp)).toBe(true);
          expect(plain(readOp)).toEqual(plain(expected));
        }
        at = end;
      }
    }),
  );
});

test("damaged records are refused by a WireError or read as some transaction, never anything else", () => {
  fc.assert(
    fc.property(txns, fc.infiniteStream(fc.nat()), fc.integer({ min: 1, max: 8 }), (list, chance, flips) => {
      const { bytes: batch } = encode(list);
      const end = FRAME_HEADER_BYTES + frameLength(batch, 0);
      const record = Buffer.from(batch.subarray(FRAME_HEADER_BYTES, end));
      for (let i = 0; i < flips; i++) {
        const where = (chance.next().value ?? 0) % record.length;
        record[where] = (chance.next().value ?? 0) % 256;
      }
      const cut = record.subarray(0, 1 + ((chance.next().value ?? 0) % record.length));
      const reader = new TxnReader();
      const readOp = newTxnOp();
      try {
        reader.open(cut, 0, cut.length, newTxnHeader());
        while (reader.next(readOp)) expect(sliceText(readOp.path).length).toBeLessThanOrEqual(cut.length);
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    }),
    { numRuns: 500 },
  );
});

test("a rewound transaction holds only what was written after the rewind", () => {
  const encoder = new TxnBatchEncoder();
  const readHeader = newTxnHeader();
  const one = newTxnOp();
  encoder.begin({ ...readHeader, zxid: 5 as Zxid });
  one.op = 1;
  one.node = 7;
  encoder.op(one);
  encoder.rewind();
  one.op = -1;
  one.node = 0;
  one.code = -101;
  encoder.op(one);
  encoder.end();
  const batch = encoder.take();
  const reader = new TxnReader();
  reader.open(batch.bytes, FRAME_HEADER_BYTES, batch.end, readHeader);
  const readOp = newTxnOp();
  expect(reader.next(readOp)).toBe(true);
  expect([readOp.op, readOp.node, readOp.code]).toEqual([-1, 0, -101]);
  expect(reader.next(readOp)).toBe(false);
});

test("transactions beyond a batch's bytes are in later batches, each as it would be in one of all", () => {
  fc.assert(
    fc.property(txns, fc.integer({ min: 1, max: 400 }), (list, batchBytesMax) => {
      const whole = encode(list);
      const encoder = new TxnBatchEncoder(64, batchBytesMax);
      for (const txn of list) {
        encoder.begin(txn.header);
        for (const one of txn.ops) encoder.op(one);
        encoder.end();
      }
      expect([encoder.count, encoder.sizeBytes]).toEqual([list.length, whole.end]);
      const parts: Buffer[] = [];
      for (let count = 0; count < list.length; ) {
        const batch = encoder.take();
        expect(batch.first).toBe(list[count]?.header.zxid);
        count += batch.count;
        expect(batch.last).toBe(list[count - 1]?.header.zxid);
        const bytes = Buffer.from(batch.bytes.slice(0, batch.end));
        // Every batch but the last is full.
        if (count < list.length) expect(batch.end).toBeGreaterThanOrEqual(batchBytesMax);
        // And none continues once it is.
        expect(lastFrameOf(bytes)).toBeLessThan(batchBytesMax);
        parts.push(bytes);
        encoder.recycle(batch);
        expect([encoder.count, encoder.sizeBytes]).toEqual([
          list.length - count,
          whole.end - parts.reduce((sum, { length }) => sum + length, 0),
        ]);
      }
      expect(Buffer.concat(parts)).toEqual(Buffer.from(whole.bytes.slice(0, whole.end)));
    }),
  );
});

test("batches of large values use the buffers of earlier ones again", () => {
  const encoder = new TxnBatchEncoder(1024, 100_000);
  const one = { ...newTxnOp(), hasData: true, data: { bytes: new Uint8Array(99_000), start: 0, end: 99_000 } };
  const buffers = new Set<Uint8Array>();
  for (let zxid = 1; zxid <= 100; zxid++) {
    encoder.begin({ ...newTxnHeader(), zxid: zxid as Zxid });
    // Every third batch grows beyond a buffer that one value fits.
    for (let i = 0; i < (zxid % 3 === 0 ? 2 : 1); i++) encoder.op(one);
    encoder.end();
    const batch = encoder.take();
    buffers.add(batch.bytes);
    encoder.recycle(batch);
  }
  expect(buffers.size).toBeLessThanOrEqual(3);
});

/** Where the last frame of a batch begins. */
function lastFrameOf(batch: Uint8Array): number {
  let last = 0;
  for (let at = 0; at < batch.length; at += FRAME_HEADER_BYTES + frameLength(batch, at)) last = at;
  return last;
}
