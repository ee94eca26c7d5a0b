import { expect, test } from "vitest";
import { anchorsOf, deadAnchors, sitePage, sitePlace } from "./pages.ts";

const PAGES = new Set(["README.md", "docs/operations.md", "docs/recipes/README.md", "packages/zab/README.md"]);
const page = (file: string, text: string): string =>
  sitePage(
    { file, text },
    (path) => PAGES.has(path),
    (path) => PAGES.has(path) || path === "packages/zab/src" || path === "LICENSE",
  );

test("a README is the index of its folder", () => {
  expect(["README.md", "docs/recipes/README.md", "docs/operations.md"].map(sitePlace)).toEqual([
    "index.md",
    "docs/recipes/index.md",
    "docs/operations.md",
  ]);
});

test.each([
  ["README.md", "[a](docs/operations.md#metrics)", "[a](./docs/operations.md#metrics)"],
  ["README.md", "[`a`](docs/operations.md), `b`", "[`a`](./docs/operations.md), `b`"],
  ["docs/operations.md", "[a](../packages/zab/README.md)", "[a](./../packages/zab/index.md)"],
  ["docs/operations.md", "[a](recipes) [b](recipes/README.md)", "[a](./recipes/index.md) [b](./recipes/index.md)"],
  ["docs/operations.md", "[a](../packages/zab/src)", "a (`packages/zab/src`)"],
  ["docs/operations.md", "[a](#here) [b](https://example.org/x.md)", "[a](#here) [b](https://example.org/x.md)"],
  ["docs/operations.md", "![a](images/a.svg)", "![a](images/a.svg)"],
])("in %s, %s becomes %s", (file, text, expected) => {
  expect(page(file, text)).toBe(expected);
});

test("a link that leads nowhere stays, so that the site's build fails", () => {
  expect(page("README.md", "[a](docs/gone.md)")).toBe("[a](docs/gone.md)");
});

test("code is left as it is", () => {
  const text = "`[a](docs/operations.md)`\n\n```ts\nlist[0](docs/operations.md);\n```\n";
  expect(page("README.md", text)).toBe(text);
});

test("a link to a heading that a page lacks is found, on other pages and on its own", () => {
  const pages = [
    {
      file: "README.md",
      text: "# Zooid\n[a](docs/operations.md#log-lines-as-json) [b](docs/operations.md#gone) [c](#zooid)",
    },
    { file: "docs/operations.md", text: "## Log lines as JSON\n[d](#nowhere)\n```sh\n# gone\n```\n" },
  ];
  expect(deadAnchors(pages)).toHaveLength(2);
});

test("headings are named as on the pages of code hosts", () => {
  expect([...anchorsOf("# `mntr` and [/metrics](x), by name\n")]).toEqual(["mntr-and-metrics-by-name"]);
});
