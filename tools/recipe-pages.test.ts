import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as recipes from "@zooid/recipes";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = globSync("docs/recipes/*.md", { cwd: ROOT, exclude: ["docs/recipes/README.md"] }).sort();
const SECTIONS = ["Guarantees", "Connection loss and session loss", "Cost", "Znodes"];
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

describe.each(PAGES)("%s", (page) => {
  test("has the sections of all pages", () => {
    expect([...textOf(page).matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(SECTIONS);
  });
});

test("every recipe has a page", () => {
  const pages = PAGES.map(textOf).join("\n");
  const classes = Object.entries(recipes).filter(([name, value]) => typeof value === "function" && /^[A-Z]/.test(name));
  const without = classes.map(([name]) => name).filter((name) => !pages.includes(name));
  expect(without).toEqual([]);
});
