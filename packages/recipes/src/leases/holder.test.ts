import { expect, test } from "vitest";
import { holderData, readHolder } from "./holder.ts";

test("a holder has its id, or else a UUID, its host and its process", () => {
  const named = readHolder(holderData("worker-1"));
  expect(named).toEqual({ id: "worker-1", host: expect.any(String), pid: process.pid });
  expect(readHolder(holderData(undefined))?.id).toMatch(/^[0-9a-f-]{36}$/);
});

const OTHER_DATA = [
  "",
  "{",
  "null",
  "true",
  "1",
  '"x"',
  "[]",
  "{}",
  '{"id":"a","host":"b"}',
  '{"id":"a","pid":1}',
  '{"host":"b","pid":1}',
  '{"id":1,"host":"b","pid":1}',
  '{"id":"a","host":1,"pid":1}',
  '{"id":"a","host":"b","pid":"1"}',
];
test.each(OTHER_DATA)("data %s name no holder", (data) => {
  expect(readHolder(Buffer.from(data))).toBeNull();
});

test("a node without data has no holder", () => {
  expect(readHolder(null)).toBeNull();
});
