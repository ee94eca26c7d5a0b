import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { FEATURE_LEVELS } from "@zooid/model";
import { expect, test } from "vitest";
import { NEXT, NEXT_EDITS } from "./next-version.ts";
import { edited } from "./source-edits.ts";

test("each edit of the next version applies to the sources", () => {
  const texts = new Map<string, string>();
  for (const edit of NEXT_EDITS) {
    const before = texts.get(edit.file) ?? readFileSync(join(ROOT, edit.file), "utf8");
    texts.set(edit.file, edited(before, edit));
  }
});

test("the next version is of the next level, and each of its formats is the next one", () => {
  const [last] = FEATURE_LEVELS.slice(-1);
  const { log = 0, state = 0, snapshot = 0 } = last?.formats ?? {};
  expect(NEXT.level).toBe((last?.level ?? 0) + 1);
  expect(NEXT.formats).toEqual({ log: log + 1, state: state + 1, snapshot: snapshot + 1 });
});

test.each(["none", "once and once"])("an edit that does not apply names its file (%s)", (text) => {
  expect(() => edited(text, { file: "packages/a.ts", find: "once", replace: "" })).toThrow(
    /^packages\/a\.ts has the text "once" [02] times, where an edit of the next version needs it once/,
  );
});
