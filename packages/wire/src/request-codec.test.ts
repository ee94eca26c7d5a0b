import { ACL_COUNT_MAX, newRequest, OPEN_ACL, OpCode, type Request, sliceText, WireError } from "@zooid/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JuteWriter } from "./jute-writer.ts";
import { RequestReader } from "./request-codec.ts";

/**
 * The hexadecimal of a packet with its length in front, blanks allowed, as protocol texts print it.
 */
function packet(hex: string): Buffer {
  return Buffer.from(hex.replace(/\s/g, ""), "hex").subarray(4);
}

function read(bytes: Uint8Array): { request: Request; reader: RequestReader } {
  const reader = new RequestReader();
  const request = newRequest();
  reader.open(bytes, 0, bytes.length, request);
  reader.body(request);
  return { request, reader };
}

function parts(reader: RequestReader): [op: number, path: string][] {
  const part = newRequest();
  const found: [number, string][] = [];
  while (reader.nextPart(part)) found.push([part.op, sliceText(part.path)]);
  return found;
}

describe("recorded packets", () => {
  test("a create as clients send it", () => {
    const { request } = read(
      packet(
        "00000032 00000001 00000001 00000002 2f61 00000001 78 00000001 0000001f 00000005 776f726c64 00000006 616e796f6e65 00000000",
      ),
    );
    expect([request.xid, request.op, sliceText(request.path), sliceText(request.data)]).toEqual([
      1,
      OpCode.CREATE,
      "/a",
      "x",
    ]);
    expect(request.acl).toBe(OPEN_ACL);
    expect([request.flags, request.ttlMs]).toEqual([0, -1]);
  });

  test("a multi of check, delete and setData, read twice", () => {
    const { request, reader } = read(
      packet(
        `00000052 00000003 0000000e
         0000000d 00 ffffffff 00000002 2f61 00000000
         00000002 00 ffffffff 00000005 2f6e6f7065 ffffffff
         00000005 00 ffffffff 00000002 2f61 00000001 79 ffffffff
         ffffffff 01 ffffffff`,
      ),
    );
    expect([request.xid, request.op]).toEqual([3, OpCode.MULTI]);
    const expected = [
      [OpCode.CHECK, "/a"],
      [OpCode.DELETE, "/nope"],
      [OpCode.SET_DATA, "/a"],
    ];
    expect(parts(reader)).toEqual(expected);
    reader.rewindParts();
    expect(parts(reader)).toEqual(expected);
  });

  test("a ping", () => {
    const { request } = read(packet("00000008 fffffffe 0000000b"));
    expect([request.xid, request.op]).toEqual([-2, OpCode.PING]);
  });

  test.each([
    ["addWatch", "00000012 00000002 0000006a 00000002 2f65 00000001", OpCode.ADD_WATCH, "/e", 1],
    ["checkWatches", "00000012 00000006 00000011 00000002 2f65 00000005", OpCode.CHECK_WATCHES, "/e", 5],
    ["removeWatches", "00000012 00000007 00000012 00000002 2f65 00000004", OpCode.REMOVE_WATCHES, "/e", 4],
    ["addWatch without a path", "00000010 00000002 0000006a ffffffff 00000001", OpCode.ADD_WATCH, undefined, 1],
    ["getEphemerals", "0000000d 00000003 00000067 00000001 2f", OpCode.GET_EPHEMERALS, "/", 0],
    ["getEphemerals of no prefix", "0000000c 00000003 00000067 ffffffff", OpCode.GET_EPHEMERALS, undefined, 0],
    ["getAllChildrenNumber", "0000000d 00000004 00000068 00000001 2f", OpCode.GET_ALL_CHILDREN_NUMBER, "/", 0],
    ["whoAmI", "00000008 00000005 0000006b", OpCode.WHO_AM_I, undefined, 0],
  ])("%s", (_, hex, op, path, mode) => {
    const { request } = read(packet(hex));
    expect([request.op, request.hasPath, sliceText(request.path), request.mode]).toEqual([
      op,
      path !== undefined,
      path ?? "",
      mode,
    ]);
  });
});

function frame(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  write(writer);
  return writer.bytes.subarray(0, writer.end);
}

function multiOf(type: number, body: (writer: JuteWriter) => void): Buffer {
  return frame((writer) => {
    writer.int(9);
    writer.int(OpCode.MULTI);
    writer.int(type);
    writer.bool(false);
    writer.int(-1);
    body(writer);
    writer.int(-1);
    writer.bool(true);
    writer.int(-1);
  });
}

function create(flags: number): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text("/n");
    writer.null();
    writer.int(1);
    writer.int(31);
    writer.text("world");
    writer.text("anyone");
    writer.int(flags);
  };
}

describe("what cannot stand in a multi", () => {
  test.each([
    OpCode.SET_ACL,
    OpCode.EXISTS,
    OpCode.DELETE_CONTAINER,
    OpCode.MULTI,
    OpCode.CLOSE_SESSION,
    OpCode.GET_DATA,
    -1,
    999,
  ])("operation %i", (type) => {
    const { reader } = read(multiOf(type, create(0)));
    expect(() => parts(reader)).toThrow(WireError);
  });

  test.each([-1, 5, 6, 7, 255])("a create with flags %i", (flags) => {
    const { reader } = read(multiOf(OpCode.CREATE, create(flags)));
    expect(() => parts(reader)).toThrow(WireError);
  });

  test("a create with the container flag becomes a container", () => {
    const { reader } = read(multiOf(OpCode.CREATE, create(4)));
    expect(parts(reader)).toEqual([[OpCode.CREATE_CONTAINER, "/n"]]);
  });
});

const WATCHES = frame((writer) => {
  writer.int(-8);
  writer.int(OpCode.SET_WATCHES2);
  writer.zxid(77);
  for (const list of [["/d"], ["/e1", "/e2"], [], ["/p"], ["/r"]]) {
    writer.int(list.length);
    for (const path of list) writer.text(path);
  }
});

test("setWatches hands on every list in its order", () => {
  const { request, reader } = read(WATCHES);
  expect(request.relativeZxid).toBe(77);
  const part = newRequest();
  const found: [number, string][] = [];
  while (reader.nextPart(part)) found.push([part.mode, sliceText(part.path)]);
  expect(found).toEqual([
    [0, "/d"],
    [1, "/e1"],
    [1, "/e2"],
    [3, "/p"],
    [4, "/r"],
  ]);
});

test("the parts of a request are read on from any place, in a copy that lies elsewhere", () => {
  const all = read(WATCHES).reader;
  const copy = Buffer.concat([Buffer.alloc(7), WATCHES]);
  for (let taken = 0; taken <= 5; taken++) {
    const { reader } = read(WATCHES);
    for (let i = 0; i < taken; i++) reader.nextPart(newRequest());
    const later = new RequestReader();
    const request = newRequest();
    later.open(copy, 7, copy.length, request);
    later.body(request);
    later.goToPart(reader.partsPosition());
    all.rewindParts();
    expect(parts(later)).toEqual(parts(all).slice(taken));
  }
});

describe("lengths and counts that lie", () => {
  const claims = [-2, -(2 ** 31), 2 ** 31 - 1, 1000];
  test.each(claims)("a path of %i bytes is refused", (length) => {
    const bytes = frame((writer) => {
      writer.int(1);
      writer.int(OpCode.GET_DATA);
      writer.int(length);
      writer.bool(false);
    });
    expect(() => read(bytes)).toThrow(WireError);
  });

  test.each([2 ** 31 - 1, 1000])("an access list of %i entries is refused before it is looped over", (count) => {
    const bytes = frame((writer) => {
      writer.int(1);
      writer.int(OpCode.SET_ACL);
      writer.text("/a");
      writer.int(count);
      writer.int(0);
    });
    expect(() => read(bytes)).toThrow(WireError);
  });

  test.each([
    [ACL_COUNT_MAX, ACL_COUNT_MAX],
    [ACL_COUNT_MAX + 1, 1],
    [20_000, 1],
  ])("an access list of %i entries is built from %i", (count, built) => {
    const bytes = frame((writer) => {
      writer.int(1);
      writer.int(OpCode.SET_ACL);
      writer.text("/a");
      writer.int(count);
      for (let i = 0; i < count; i++) {
        writer.int(31);
        writer.text("world");
        writer.text("anyone");
      }
      writer.int(7);
    });
    const { request } = read(bytes);
    expect([request.acl?.length, request.version]).toEqual([built, 7]);
    if (built === 1) expect(request.acl).toEqual([{ perms: 0, scheme: "", id: "" }]);
  });

  test("an access list of many entries is the same object when it comes again", () => {
    const reader = new RequestReader();
    const request = newRequest();
    const readList = (count: number) => {
      const bytes = frame((writer) => {
        writer.int(1);
        writer.int(OpCode.SET_ACL);
        writer.text("/a");
        writer.int(count);
        for (let i = 0; i < count; i++) {
          writer.int(1);
          writer.text("ip");
          writer.text(`10.0.${i >> 8}.${i & 255}`);
        }
        writer.int(-1);
      });
      reader.open(bytes, 0, bytes.length, request);
      reader.body(request);
      return request.acl;
    };
    const long = readList(1000);
    expect([readList(1000), readList(999)?.length]).toEqual([long, 999]);
    expect(readList(1000)).toBe(long);
    // What is remembered is bounded.
    for (let count = 900; count < 1000; count++) readList(count);
    expect(readList(1000)).not.toBe(long);
    expect(readList(1000)).toEqual(long);
  });

  test("null path and null data are distinct from empty ones", () => {
    const bytes = frame((writer) => {
      writer.int(1);
      writer.int(OpCode.SET_DATA);
      writer.null();
      writer.text("");
      writer.int(-1);
    });
    const { request } = read(bytes);
    expect([request.hasPath, request.hasData, request.data.end - request.data.start]).toEqual([false, true, 0]);
  });
});

test("random bytes behind any opcode are a request or a WireError, and never anything else", () => {
  const codes = Object.values(OpCode);
  fc.assert(
    fc.property(fc.constantFrom(...codes), fc.uint8Array({ maxLength: 120 }), (op, body) => {
      const bytes = frame((writer) => {
        writer.int(5);
        writer.int(op);
        writer.raw(body, 0, body.length);
      });
      try {
        const { request, reader } = read(bytes);
        expect(request.path.end).toBeLessThanOrEqual(bytes.length);
        expect(request.data.end).toBeLessThanOrEqual(bytes.length);
        if (
          op === OpCode.MULTI ||
          op === OpCode.MULTI_READ ||
          op === OpCode.SET_WATCHES ||
          op === OpCode.SET_WATCHES2
        ) {
          parts(reader);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    }),
    { numRuns: 3000 },
  );
});
