import { expect, test } from "vitest";
import { tryMutation } from "./mutation-table.ts";

// One of each kind; all of them are tried by `npm run simulate -- --mutations`.
test.each([
  ["apply-unlogged", 1],
  ["history-without-a-quorum", 1],
  ["local-session-of-the-leader-moves", 9],
  ["position-from-tree", 1],
  ["uncommitted-in-the-tree", 1],
  ["up-to-date-twice", 1],
])("%s is noticed", (name, from) => {
  expect(tryMutation(name, 20, from)).toBeDefined();
});
