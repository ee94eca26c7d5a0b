import { readFileSync } from "node:fs";
import { StoreError } from "@zooid/txn-log";
import { expect, test } from "vitest";
import { guarded } from "./guarded.ts";

test("what an act finds wrong with a file is returned, and nothing if it finds nothing", () => {
  const damage = new StoreError({ code: "DAMAGED", file: "/f", place: "byte 5", found: "zeros" });
  const fails = (): never => {
    throw damage;
  };
  expect(guarded("/f", () => {})).toBeUndefined();
  expect(guarded("/f", fails)).toBe(damage);
});

test("a file that the system does not give is unreadable, with the reason", () => {
  const fault = guarded("/no/such", () => readFileSync("/no/such"));
  expect(fault?.detail).toEqual({ code: "UNREADABLE", file: "/no/such", reason: expect.stringContaining("ENOENT") });
});

test("a defect is not a fault of the file", () => {
  const defect = new TypeError("x is not a function");
  const fails = (): never => {
    throw defect;
  };
  expect(() => guarded("/f", fails)).toThrow(defect);
});
