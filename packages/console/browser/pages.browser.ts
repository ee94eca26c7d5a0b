import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";
import { fillTree } from "./example-tree.ts";

afterAll(closeBrowser);

const PAGES = [
  { name: "ensemble", place: "#/ensemble", ready: "article.member" },
  { name: "tree", place: "#/tree?path=%2Fapp%2Fconfig", ready: "section.data" },
  { name: "stat", place: "#/tree?path=%2Fapp%2Fconfig&tab=stat", ready: "table.stat" },
  { name: "access", place: "#/tree?path=%2Fapp%2Fconfig&tab=acl", ready: "form.acl tbody tr" },
  { name: "history", place: "#/tree?path=%2Fapp%2Fconfig&tab=history", ready: "section.history, .tab-panel .hint" },
  { name: "transaction", place: "#/transaction", ready: "main h1" },
  { name: "transfer", place: "#/transfer?path=%2Fapp", ready: "form" },
  { name: "sessions", place: "#/sessions", ready: "tbody tr" },
  { name: "recipes", place: "#/recipes", ready: "article.recipe" },
  { name: "hot-spots", place: "#/hot", ready: "main h1" },
  { name: "metrics", place: "#/metrics", ready: "figure.chart" },
  { name: "changes", place: "#/live", ready: "main h1" },
] as const;
/** Other tests make the pictures of these, with something to see. */
const PICTURED: ReadonlySet<string> = new Set(["ensemble", "transaction", "transfer", "hot-spots"]);

test.each(PAGES)("axe finds nothing on the page $name, light, dark and narrow", async ({ name, place, ready }) => {
  await using stage = await startBrowserStage();
  await using _example = await fillTree(stage);
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await stage.open(place, { colorScheme });
    await page.locator(ready).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    if (!PICTURED.has(name)) await screenshot(page, `${name}-${colorScheme}`);
  }
  const narrow = await stage.open(place, { viewport: { width: 360, height: 740 } });
  await narrow.locator(ready).first().waitFor();
  expect(await axeFindings(narrow)).toEqual([]);
  const overflow = await narrow.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
});

test("? shows the keys, but not while something is typed", async () => {
  await using stage = await startBrowserStage();
  const page = await stage.open("#/tree");
  await page.getByRole("treeitem").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.press("?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.locator("main").focus();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.getByText("edit its data").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});
