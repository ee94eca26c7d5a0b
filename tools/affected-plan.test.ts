import { expect, test } from "vitest";
import { planOf } from "./affected-plan.ts";

test("a source is linted, and its project is built and tested", () => {
  const file = "packages/zab/src/peer.ts";
  expect(planOf([file])).toEqual({ linted: [file], seeds: [file], hasReadme: false });
});

test("a document concerns the tests that read documents, and no package", () => {
  expect(planOf(["docs/operations.md", "packages/zab/DESIGN.md"])).toEqual({
    linted: [],
    seeds: ["tools/project.json"],
    hasReadme: false,
  });
});

test("a README's examples are run", () => {
  expect(planOf(["packages/zab/README.md"]).hasReadme).toBe(true);
  expect(planOf(["README.md"]).hasReadme).toBe(false);
});

test("a changeset or a template concerns no test", () => {
  expect(planOf([".changeset/one.md", ".github/pull_request_template.md"]).seeds).toEqual([]);
});
