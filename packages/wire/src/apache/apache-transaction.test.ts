import { expect, test } from "vitest";
import { ApacheType, recordOf, transaction } from "../testing/apache-transactions.ts";
import { int } from "./apache-format.ts";
import { apacheTransaction, apacheZxid } from "./apache-transaction.ts";

/** Records whose first number at this place is a count of elements, or a length of bytes. */
const RECORDS: Readonly<Record<string, readonly [type: number, record: Buffer, place: number]>> = {
  "the length of a path": [ApacheType.DELETE, recordOf.delete("/a"), 0],
  "the length of data": [ApacheType.SET_DATA, recordOf.set("/a", "x", 1), 6],
  "the count of access entries": [ApacheType.SET_ACL, recordOf.setAcl("/a", [], 1), 6],
  "the count of a session's paths": [ApacheType.CLOSE_SESSION, recordOf.paths(["/a"]), 0],
  "the count of a multi's parts": [ApacheType.MULTI, recordOf.multi([[ApacheType.DELETE, recordOf.delete("/a")]]), 0],
};

test.each(Object.entries(RECORDS))(
  "%s is refused where it is negative or larger than what is left",
  (_, [type, record, place]) => {
    const bytes = Buffer.from(record);
    expect(() => apacheTransaction(transaction({ zxid: 1n, type, record: bytes }))).not.toThrow();
    for (const wrong of [-2, -(2 ** 31), 1000, 2 ** 31 - 1]) {
      int(wrong).copy(bytes, place);
      expect(() => apacheTransaction(transaction({ zxid: 1n, type, record: bytes })), `${wrong}`).toThrow(RangeError);
    }
  },
);

test("a multi of which a part failed has the code of that part, and changes nothing", () => {
  const code = (value: number): [type: number, record: Buffer] => [ApacheType.ERROR, recordOf.number(value)];
  const record = recordOf.multi([[ApacheType.DELETE, recordOf.delete("/a")], code(0), code(-101), code(-2)]);
  const read = apacheTransaction(transaction({ zxid: 5n, type: ApacheType.MULTI, record, digest: 9n }));
  expect(read).toMatchObject({ type: ApacheType.MULTI, error: -101, changes: [], digest: 9n });
});

test("a multi within a multi is refused: no server writes one", () => {
  const inner = recordOf.multi([[ApacheType.DELETE, recordOf.delete("/a")]]);
  const record = recordOf.multi([[ApacheType.MULTI, inner]]);
  expect(() => apacheTransaction(transaction({ zxid: 5n, type: ApacheType.MULTI, record }))).toThrow("type 14");
});

test("a transaction that failed has its code, and each has the number of its request", () => {
  const bytes = transaction({ zxid: 5n, type: ApacheType.ERROR, record: recordOf.number(-110) });
  expect(apacheTransaction(bytes)).toMatchObject({ cxid: 1, zxid: 5n, error: -110, changes: [] });
  expect([apacheZxid(bytes), apacheZxid(bytes.subarray(0, 31))]).toEqual([5n, undefined]);
});
