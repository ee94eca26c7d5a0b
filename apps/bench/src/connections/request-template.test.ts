import { CreateMode, newRequest, OpCode, opName, type Request, sliceText } from "@zooid/model";
import { RequestReader } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import {
  closeTemplate,
  createTemplate,
  existsTemplate,
  fillTemplate,
  listTemplate,
  multiSetTemplate,
  putDigits,
  type RequestTemplate,
  readTemplate,
  setTemplate,
  watchTemplate,
} from "./request-template.ts";

const PAYLOAD = new Uint8Array([1, 2, 3]);

interface Read {
  readonly op: string | undefined;
  readonly xid: number;
  readonly path: string;
  readonly data: readonly number[];
  readonly request: Request;
}

/** The fields that a server decodes from a template with its numbers in place. */
function read(template: RequestTemplate): Read & { readonly parts: readonly Read[] } {
  const frame = fillTemplate(template, 77, { node: 42, counter: 5, connection: 3 });
  expect(new DataView(frame.buffer).getInt32(0)).toBe(frame.length - 4);
  const reader = new RequestReader();
  const request = newRequest();
  reader.open(frame, 4, frame.length, request);
  reader.body(request);
  const parts: Read[] = [];
  const part = newRequest();
  if (request.op === OpCode.MULTI) {
    reader.rewindParts();
    while (reader.nextPart(part)) parts.push(described(part));
  }
  return { ...described(request), parts };
}

function described(request: Request): Read {
  const { data, path } = request;
  return {
    op: opName(request.op),
    xid: request.xid,
    path: sliceText(path),
    data: [...data.bytes.subarray(data.start, data.end)],
    request,
  };
}

describe("a server reads what a template means", () => {
  test.each([
    ["getData", readTemplate("read", "/b/n-#######"), { op: "GET_DATA", path: "/b/n-0000042" }],
    ["exists", existsTemplate("exists", "/b/x"), { op: "EXISTS", path: "/b/x" }],
    ["getChildren2", listTemplate("list", "/b"), { op: "GET_CHILDREN2", path: "/b" }],
    ["setData", setTemplate("write", "/b/n-###", PAYLOAD), { op: "SET_DATA", path: "/b/n-042", data: [1, 2, 3] }],
    [
      "create",
      createTemplate("create", { path: "/b/c-@@@@/%%%%%%", payload: PAYLOAD, mode: CreateMode.EPHEMERAL }),
      { op: "CREATE", path: "/b/c-0003/000005", data: [1, 2, 3] },
    ],
  ])("%s", (_, template, expected) => {
    expect(read(template)).toMatchObject({ xid: 77, ...expected });
  });

  test("a watch is armed by the one that says so", () => {
    expect(read(watchTemplate("watch", "/b")).request.watch).toBe(true);
    expect(read(readTemplate("read", "/b")).request.watch).toBe(false);
  });

  test("a create has its mode and is open to all", () => {
    const { request } = read(createTemplate("c", { path: "/b", payload: PAYLOAD, mode: CreateMode.EPHEMERAL }));
    expect(request.flags).toBe(CreateMode.EPHEMERAL);
    expect(request.acl).toEqual([{ perms: 31, scheme: "world", id: "anyone" }]);
  });

  test("a transaction sets neighbours", () => {
    const paths = ["/b/n-####", "/b/n-####", "/b/n-####"];
    const { op, parts } = read(multiSetTemplate("multi", paths, PAYLOAD));
    expect(op).toBe("MULTI");
    expect(parts.map(({ op, path }) => [op, path])).toEqual([
      ["SET_DATA", "/b/n-0042"],
      ["SET_DATA", "/b/n-0043"],
      ["SET_DATA", "/b/n-0044"],
    ]);
  });

  test("the end of a session has no body", () => {
    expect(closeTemplate("close").frame).toHaveLength(12);
  });
});

test.each([
  [0, "0000"],
  [42, "0042"],
  [9999, "9999"],
  [12_345, "2345"],
])("%i has the digits %s", (value, digits) => {
  const bytes = new TextEncoder().encode("/n-....-x");
  putDigits(bytes, 3, 4, value);
  expect(new TextDecoder().decode(bytes)).toBe(`/n-${digits}-x`);
});
