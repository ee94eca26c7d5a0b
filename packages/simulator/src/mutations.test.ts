import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutate } from "./mutate-source.ts";
import { tryMutation } from "./mutation-table.ts";
import { MUTATIONS } from "./mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");

test.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
  "%s still means something",
  (_, mutation) => {
    const source = readFileSync(join(ROOT, mutation.file), "utf8");
    expect(mutate(source, mutation)).not.toBe(source);
  },
);

// One of each kind; all of them are tried by `npm run simulate -- --mutations`.
test.each([
  ["ack-before-sync", 1],
  ["apply-unlogged", 1],
  ["history-without-a-quorum", 1],
  ["local-session-of-the-leader-moves", 9],
  ["position-from-tree", 1],
  ["uncommitted-in-the-tree", 1],
  ["up-to-date-twice", 1],
])("%s is noticed", (name, from) => {
  expect(tryMutation(name, 20, from)).toBeDefined();
});
