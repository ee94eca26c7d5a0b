import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";
import { logIn } from "./login.ts";

afterAll(closeBrowser);

test("the header switches between ensembles, each with its tree, its changes and its login", async () => {
  await using other = await startServer({ port: 0 });
  await using zk = await connect(other.connectString);
  await zk.create("/of-test");
  await using stage = await startBrowserStage({ name: "prod", more: [{ name: "test", hosts: other.connectString }] });
  await stage.zk.create("/of-prod");
  const page = await stage.open("#/tree");
  await page.getByRole("treeitem", { name: "of-prod" }).waitFor();
  await logIn(page, { user: "alice", password: "secret" });
  const choice = page.getByRole("combobox", { name: "Ensemble" });
  await choice.selectOption("test");
  await page.waitForURL(/\/ensembles\/test\/console\/#\/tree$/);
  await page.getByRole("treeitem", { name: "of-test" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator(".user-name").getByText("anonymous").waitFor();
  expect(await page.getByRole("treeitem", { name: "of-prod" }).count()).toBe(0);
  await zk.create("/created-elsewhere");
  await page.getByRole("treeitem", { name: "created-elsewhere" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "ensembles-light");
  await choice.selectOption("prod");
  await page.locator(".user-name").getByText("alice").waitFor();
  await page.getByRole("treeitem", { name: "of-prod" }).waitFor();
});
