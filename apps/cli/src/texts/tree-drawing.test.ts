import { expect, test } from "vitest";
import { type DrawnNode, drawTree } from "./tree-drawing.ts";

function node(name: string, children: readonly DrawnNode[] = [], more: Partial<DrawnNode> = {}): DrawnNode {
  return { name, isEphemeral: false, childCount: children.length, children, ...more };
}

test("branches, counts, ephemerals, what was cut and what may not be seen", () => {
  const root = node("/app", [
    node("config", [node("a")]),
    node("deep", [], { childCount: 7, children: undefined }),
    node("members", [node("m1", [], { isEphemeral: true })]),
    node("secret", [], { isForbidden: true }),
  ]);
  expect(drawTree(root, { paintEphemeral: (text) => `<${text}>` })).toEqual([
    "/app (4)",
    "├── config (1)",
    "│   └── a",
    "├── deep (7)",
    "├── members (1)",
    "│   └── <m1> *",
    "└── secret (not allowed)",
  ]);
});
