import { expect, test } from "vitest";
import { decodeItems, encodeItems } from "./queue-item.ts";
import {
  DELAY_NAMES,
  ID_NAMES,
  inQueueOrder,
  nameWithDueMs,
  nameWithId,
  nameWithPriority,
  PLAIN_NAMES,
  PRIORITY_NAMES,
} from "./queue-names.ts";

const hex = (items: readonly string[]): string => encodeItems(items.map((item) => Buffer.from(item))).toString("hex");

test("items have Curator's format", () => {
  expect(hex(["hello"])).toBe("0001000101000000056865 6c6c6f02".replaceAll(" ", ""));
  expect(hex(["m0", "m1"])).toBe("0001000101000000026d3001000000026d3102");
  expect(hex([])).toBe("0001000102");
  for (const items of [["hello"], ["m0", "m1"], ["", "x"], []]) {
    expect(decodeItems(Buffer.from(hex(items), "hex")).map(String)).toEqual(items);
  }
});

test.each([
  "",
  "00010001",
  "0001000202",
  "0001000101",
  "000100010100000005",
  "00010001010000000568656c6c",
  "00010001010000000568656c6c6f",
  "0001000101ffffffff02",
  "0001000103",
])("%s is no item", (bytes) => {
  expect(() => decodeItems(Buffer.from(bytes, "hex"))).toThrow(/what the node holds is/);
});

test("names are Curator's", () => {
  expect(`${nameWithId("my_id")}0000000000`).toBe("queue-|my_id|0000000000");
  expect(`${nameWithPriority(5)}0000000000`).toBe("queue-1000000050000000000");
  expect(`${nameWithPriority(-5)}0000000001`).toBe("queue-0FFFFFFFB0000000001");
  expect(`${nameWithDueMs(0x18bcfe56800)}0000000000`).toBe("queue-|18BCFE56800|0000000000");
  expect(nameWithDueMs(1)).toBe("queue-|00000001|");
  // Two ids that Curator stores as one.
  for (const wrong of ["my|id", "my/id", ""]) expect(() => nameWithId(wrong)).toThrow(RangeError);
  for (const wrong of [1.5, 2 ** 31, -(2 ** 31) - 1]) expect(() => nameWithPriority(wrong)).toThrow(RangeError);
  for (const wrong of [-1, 0.5, Number.NaN]) expect(() => nameWithDueMs(wrong)).toThrow(RangeError);
});

test("each kind has its order, in which items requeued by Curator have a place", () => {
  const named = (prefix: string, number: number): string => prefix + String(number).padStart(10, "0");
  const orders = [
    [PLAIN_NAMES, [named("queue-", 1), named("queue-", 2), named("queue-", 10)]],
    [ID_NAMES, [named(nameWithId("z"), 1), named("queue-", 2), named(nameWithId("a"), 3)]],
    [
      PRIORITY_NAMES,
      [
        named("queue-", 7),
        named(nameWithPriority(-2), 5),
        named(nameWithPriority(-1), 4),
        named(nameWithPriority(0), 3),
        named(nameWithPriority(1), 1),
        named(nameWithPriority(1), 2),
      ],
    ],
    [
      DELAY_NAMES,
      [
        named("queue-", 9),
        named(nameWithDueMs(5), 8),
        named(nameWithDueMs(2 ** 40), 1),
        named(nameWithDueMs(2 ** 40), 2),
      ],
    ],
  ] as const;
  for (const [names, ordered] of orders) {
    expect(inQueueOrder([...ordered.toReversed(), "foreign", "queue-note", "other--2147483648"], names)).toEqual(
      ordered,
    );
  }
  expect(() => inQueueOrder(["queue--2147483648"], PLAIN_NAMES)).toThrow(/run over/);
});
