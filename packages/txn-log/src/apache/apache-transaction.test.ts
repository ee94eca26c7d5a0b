import { expect, test } from "vitest";
import { ApacheType, recordOf, transaction } from "../testing/apache-transactions.ts";
import { int } from "./apache-format.ts";
import { apacheTransaction } from "./apache-transaction.ts";

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
