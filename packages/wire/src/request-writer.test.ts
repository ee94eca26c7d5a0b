/** Each request that a client writes is what the server's decoder reads. */
import { newRequest, OPEN_ACL, OpCode, type Request, sliceText } from "@zooid/model";
import { expect, test } from "vitest";
import { JuteWriter } from "./jute-writer.ts";
import { RequestReader } from "./request-codec.ts";
import {
  writeAuth,
  writeCreate,
  writeMultiHeader,
  writePathAndInt,
  writePathAndWatch,
  writeRequestHeader,
  writeSetAcl,
  writeSetData,
  writeSetWatches,
} from "./request-writer.ts";

const DATA = Uint8Array.of(1, 2, 3);

function written(op: number, body: (writer: JuteWriter) => void): Uint8Array {
  const writer = new JuteWriter();
  writeRequestHeader(writer, 7, op);
  body(writer);
  return writer.bytes.subarray(0, writer.end);
}

function read(
  op: number,
  body: (writer: JuteWriter) => void,
): { readonly reader: RequestReader; readonly request: Request } {
  const bytes = written(op, body);
  const reader = new RequestReader();
  const request = newRequest();
  reader.open(bytes, 0, bytes.length, request);
  reader.body(request);
  return { reader, request };
}

/** The significant fields of a request, as plain values. */
function plain(request: Request) {
  const { data, hasData } = request;
  return {
    ...request,
    path: sliceText(request.path),
    data: hasData ? [...data.bytes.subarray(data.start, data.end)] : null,
  };
}

test("requests of one path", () => {
  for (const watch of [true, false]) {
    expect(plain(read(OpCode.GET_DATA, (w) => writePathAndWatch(w, "/ä", watch)).request)).toMatchObject({
      xid: 7,
      op: OpCode.GET_DATA,
      path: "/ä",
      watch,
    });
  }
  expect(plain(read(OpCode.DELETE, (w) => writePathAndInt(w, "/a", 9)).request)).toMatchObject({
    path: "/a",
    version: 9,
  });
  expect(plain(read(OpCode.ADD_WATCH, (w) => writePathAndInt(w, "/a", 1)).request)).toMatchObject({
    path: "/a",
    mode: 1,
  });
});

test("creates, with data, without, and with a time to live", () => {
  const create = { path: "/a", data: DATA, acl: OPEN_ACL, flags: 3 };
  expect(plain(read(OpCode.CREATE2, (w) => writeCreate(w, create)).request)).toMatchObject({
    path: "/a",
    data: [1, 2, 3],
    acl: OPEN_ACL,
    flags: 3,
  });
  expect(plain(read(OpCode.CREATE, (w) => writeCreate(w, { ...create, data: null })).request).data).toBeNull();
  const ttl = { ...create, flags: 5, ttlMs: 5_000_000_000 };
  expect(plain(read(OpCode.CREATE_TTL, (w) => writeCreate(w, ttl)).request)).toMatchObject({
    flags: 5,
    ttlMs: 5_000_000_000,
  });
});

test("writes of data and access lists", () => {
  expect(plain(read(OpCode.SET_DATA, (w) => writeSetData(w, "/a", DATA, -1)).request)).toMatchObject({
    data: [1, 2, 3],
    version: -1,
  });
  expect(plain(read(OpCode.SET_ACL, (w) => writeSetAcl(w, "/a", OPEN_ACL, 2)).request)).toMatchObject({
    acl: OPEN_ACL,
    version: 2,
  });
});

test("the ops of a multi, and the paths of setWatches", () => {
  const { reader } = read(OpCode.MULTI, (w) => {
    writeMultiHeader(w, OpCode.CHECK, false);
    writePathAndInt(w, "/a", 4);
    writeMultiHeader(w, OpCode.SET_DATA, false);
    writeSetData(w, "/b", DATA, 1);
    writeMultiHeader(w, -1, true);
  });
  const part = newRequest();
  const ops: unknown[] = [];
  while (reader.nextPart(part)) ops.push([part.op, sliceText(part.path), part.version]);
  expect(ops).toEqual([
    [OpCode.CHECK, "/a", 4],
    [OpCode.SET_DATA, "/b", 1],
  ]);

  const paths = { data: ["/1"], exists: ["/2", "/3"], children: [], persistent: ["/4"], recursive: ["/5"] };
  for (const two of [true, false]) {
    const op = two ? OpCode.SET_WATCHES2 : OpCode.SET_WATCHES;
    const { reader: watches, request } = read(op, (w) => writeSetWatches(w, 0x5_0000_0001, paths, two));
    expect(request.relativeZxid).toBe(0x5_0000_0001);
    const found: unknown[] = [];
    while (watches.nextPart(part)) found.push([part.mode, sliceText(part.path)]);
    const lists = [
      [0, "/1"],
      [1, "/2"],
      [1, "/3"],
    ];
    expect(found).toEqual(two ? [...lists, [3, "/4"], [4, "/5"]] : lists);
  }
});

test("an auth packet, byte by byte", () => {
  const bytes = written(OpCode.AUTH, (w) => writeAuth(w, "digest", new TextEncoder().encode("u:p")));
  expect(Buffer.from(bytes).toString("hex")).toBe("0000000700000064000000000000000664696765737400000003753a70");
});
