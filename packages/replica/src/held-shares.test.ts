import type { Identity } from "@zooid/model";
import { expect, test } from "vitest";
import { HeldShares } from "./held-shares.ts";

const ip = (id: string): Identity => ({ scheme: "ip", id });
const A = [ip("10.0.0.1")];
const B = [ip("10.0.0.2")];

test("a client may fill three quarters of the tree, and a sixteenth of the whole beyond", () => {
  const shares = new HeldShares(1600);
  expect(shares.admits(A, 1200, 0)).toBe(true);
  expect(shares.admits(A, 100, 1200)).toBe(true);
  expect(shares.admits(A, 1, 1300)).toBe(false);
  expect(shares.admits(B, 100, 1300)).toBe(true);
});

test("an identity has one share from all its addresses", () => {
  const shares = new HeldShares(1600);
  const user = { scheme: "digest", id: "u:x" };
  expect(shares.admits([...A, user], 60, 1200)).toBe(true);
  expect(shares.admits([...B, user], 60, 1260)).toBe(false);
  expect(shares.admits(B, 60, 1260)).toBe(true);
});

test("what is removed gives everybody room again", () => {
  const shares = new HeldShares(1600);
  expect(shares.admits(A, 100, 1250)).toBe(true);
  expect(shares.admits(A, 50, 1350)).toBe(false);
  expect(shares.admits(A, 50, 1290)).toBe(true);
  expect(shares.admits(A, 50, 1340)).toBe(false);
});

test("shares are forgotten once the tree is no longer that full", () => {
  const shares = new HeldShares(1600);
  expect(shares.admits(A, 100, 1250)).toBe(true);
  expect(shares.admits(A, 10, 900)).toBe(true);
  expect(shares.admits(A, 100, 1250)).toBe(true);
});

test("a tree without a bound has no shares", () => {
  const shares = new HeldShares(Number.POSITIVE_INFINITY);
  for (let i = 0; i < 10; i++) expect(shares.admits(A, 1e15, i * 1e15)).toBe(true);
});
