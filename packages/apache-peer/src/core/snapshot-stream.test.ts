import { OPEN_ACL } from "@zooid/model";
import { field, int, long } from "@zooid/wire/apache";
import { expect, test } from "vitest";
import { snapshot } from "../testing/leader-packets.ts";
import { ApachePeerError } from "./peer-error.ts";
import { SNAPSHOT_SIGNATURE, SnapshotStream } from "./snapshot-stream.ts";

const FIELD_BYTES_MAX = 1000;
const INT_MAX = 2 ** 31 - 1;
const SESSION = [long(7n), int(4000)];

interface Taken {
  readonly lines: readonly string[];
  /** The rest of the last piece. */
  readonly rest: string;
}

function taken(bytes: Buffer, pieceBytes = bytes.length): Taken {
  const lines: string[] = [];
  const stream = new SnapshotStream(
    {
      session: (id, timeoutMs) => lines.push(`session ${id} ${timeoutMs}`),
      acl: (key, acl) => lines.push(`list ${key} ${acl.length}`),
      node: (path, data, key) => lines.push(`node ${path} ${data?.length ?? "null"} ${key}`),
      rest: () => {},
    },
    FIELD_BYTES_MAX,
  );
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    const length = stream.take(piece);
    if (stream.isEnded) return { lines, rest: bytes.subarray(at + length).toString() };
  }
  return { lines, rest: "not ended" };
}

const WHOLE = snapshot({
  lists: [[3n, [...OPEN_ACL, ...OPEN_ACL]]],
  nodes: [
    ["", null],
    ["/a", "x".repeat(500)],
  ],
});

test("sessions, lists and nodes are handed over in order, and what follows the signature is left", () => {
  const lines = ["session 7 4000", "list 3 2", "node  null 1", "node /a 500 1"];
  const bytes = Buffer.concat([WHOLE, Buffer.from("next")]);
  for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes++)
    expect(taken(bytes, pieceBytes)).toEqual({ lines, rest: "next" });
});

test.each([
  ["a negative count of sessions", [int(-1)], "a count of -1"],
  ["2^31 - 1 entries of a list", [int(1), ...SESSION, int(1), long(1n), int(INT_MAX)], "an access list of 2147483647"],
  ["a path of 2^31 - 1 bytes", [int(0), int(0), int(INT_MAX)], "a field of 2147483647 bytes"],
  ["data that is longer than the limit", [int(0), int(0), field(Buffer.from("/a")), int(1001)], "a field of 1001"],
  ["a node without a path", [int(0), int(0), int(-1)], "a node without a path"],
  ["another signature", [int(0), int(0), field(Buffer.from("/")), int(10), Buffer.from("BenWasNot!")], "signature"],
  [
    "a list that is longer than the limit",
    [
      int(0),
      int(1),
      long(1n),
      int(50),
      ...Array.from({ length: 50 }, () => [int(1), field(Buffer.alloc(30)), int(0)]).flat(),
    ],
    "an access list of more than 1000 bytes",
  ],
])("%s is refused with the place", (_, parts, found) => {
  const act = (): Taken => taken(Buffer.concat(parts));
  expect(act).toThrow(ApachePeerError);
  expect(act).toThrow(found);
});

test("2^31 - 1 sessions are taken as they come, and nothing is allocated for the count", () => {
  expect(taken(Buffer.concat([int(INT_MAX), ...SESSION])).lines).toEqual(["session 7 4000"]);
  expect(SNAPSHOT_SIGNATURE.toString("latin1")).toContain("BenWasHere");
});
