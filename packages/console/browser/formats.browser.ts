import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("a text that is not valid is saved only on purpose, and its problem names the line", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/settings.yaml", "a: 1\n");
  const page = await stage.open("#/tree?path=%2Fsettings.yaml");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.getByRole("textbox", { name: "Data" });
  await area.fill("a: 1\nb: [1\n");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("alert").getByText("This is not valid as YAML").waitFor();
  await page.getByText(/line 3: /).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "validation-light");
  // The shortcut does not save it either.
  await page.keyboard.press("Control+Enter");
  expect(await stage.zk.getText("/settings.yaml")).toBe("a: 1\n");
  await page.getByRole("button", { name: "Back" }).click();
  await area.fill("a: 2\n");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved /settings.yaml as version 1").waitFor();
});

test("data is viewed as YAML, XML and properties where it is valid", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/x", '<a><script src="https://example.com/x.js"/></a>');
  await stage.zk.create("/p", "key\\u0021 = value\n# comment");
  const page = await stage.open("#/tree?path=%2Fx");
  await page.getByRole("button", { name: "XML" }).click();
  await page.locator("section.data").getByText("<script src=").waitFor();
  await page.getByRole("button", { name: "JSON" }).click();
  await page.getByText("The data is not JSON.").waitFor();
  await page.goto(`${stage.url}/console/#/tree?path=%2Fp`);
  await page.getByRole("button", { name: "Properties" }).click();
  await page.locator("section.data").getByText("key! = value").waitFor();
});
