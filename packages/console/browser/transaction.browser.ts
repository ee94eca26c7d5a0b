import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("writes of several nodes are gathered, shown with their differences, and committed together", async () => {
  await using stage = await startBrowserStage();
  const { zk } = stage;
  await zk.create("/app");
  for (const [name, text] of [
    ["config", "one\ntwo"],
    ["old", "gone soon"],
    ["guard", ""],
  ] as const) {
    await zk.create(`/app/${name}`, text);
  }
  const page = await stage.open("#/tree?path=%2Fapp%2Fconfig");
  const gather = page.getByRole("button", { name: "Add to the transaction" });
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Data" }).fill("one\nthree");
  await page.getByRole("button", { name: "Review" }).click();
  await gather.click();
  await page.getByRole("treeitem", { name: "old" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await gather.click();
  await page.getByRole("treeitem", { name: /^app/ }).click();
  await page.getByRole("button", { name: "New child" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("new");
  await page.getByRole("textbox", { name: "Data" }).fill("fresh");
  await gather.click();
  await page.getByRole("treeitem", { name: "guard" }).click();
  await page.getByRole("tab", { name: "Stat" }).click();
  await page.getByRole("button", { name: "Add a check of version 0 to the transaction" }).click();
  await page.getByRole("link", { name: "Transaction" }).click();
  await page.getByText("4 writes, in this order. Nothing is written yet.").waitFor();
  const cards = page.locator("li.draft");
  expect(await cards.evaluateAll((all) => all.map((card) => card.getAttribute("aria-label")))).toEqual([
    ...["set /app/config", "delete /app/old", "create /app/new", "check /app/guard"],
  ]);
  await page.getByRole("region", { name: "Difference of set /app/config" }).getByText("added: three").waitFor();
  await page.getByRole("button", { name: "Earlier: check /app/guard" }).click();
  expect(await axeFindings(page)).toEqual([]);

  // Another client comes between: nothing is written.
  await zk.set("/app/guard", "changed");
  await zk.set("/app/config", "theirs");
  await page.getByRole("button", { name: "Commit 4 writes" }).click();
  const config = page.getByRole("listitem", { name: "set /app/config" });
  await config.getByRole("alert").waitFor();
  expect(await zk.exists("/app/new")).toBeNull();
  expect(await zk.getText("/app/config")).toBe("theirs");
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "transaction-light");
  await config.getByRole("button", { name: "Take the present version" }).click();
  await config.getByText("removed: theirs").waitFor();
  await page.getByRole("button", { name: "Remove: check /app/guard" }).click();
  await page.getByRole("button", { name: "Commit 3 writes" }).click();
  await page.getByText("Committed 3 writes as one transaction").waitFor();
  expect((await zk.children("/app")).names.toSorted()).toEqual(["config", "guard", "new"]);
  expect(await zk.getText("/app/config")).toBe("one\nthree");
});
