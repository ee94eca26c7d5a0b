import { digestId } from "@zooid/client";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";
import { logIn } from "./login.ts";

afterAll(closeBrowser);

const ALICE = { user: "alice", password: "secret" };
const LIMITS = "count=10,bytes=-1=;byteHardLimit=4;countHardLimit=-1";

test("the tab of the access list says what the user may do, and by which entries", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/app");
  await stage.zk.create("/app/config", "one", {
    acl: [
      { perms: 31, scheme: "digest", id: digestId(ALICE.user, ALICE.password) },
      { perms: 1, scheme: "ip", id: "127.0.0.0/8" },
    ],
  });
  const page = await stage.open("#/tree?path=%2Fapp%2Fconfig&tab=acl");
  const rights = page.getByRole("region", { name: "Your rights" });
  await rights.getByText("no Replace its data needs write").waitFor();
  await rights.getByText("yes Read its data, list its children read, by ip:127.0.0.0/8").waitFor();
  await rights.getByText("yes Delete the node delete on /app, by world:anyone").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await logIn(page, ALICE);
  await rights.getByText(/^yes Replace its data write, by digest:alice:/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "rights-light");
});

test("nothing is offered that the access lists refuse, and all of it after a login that they name", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/app", "", {
    acl: [
      { perms: 1, scheme: "world", id: "anyone" },
      { perms: 31, scheme: "digest", id: digestId(ALICE.user, ALICE.password) },
    ],
  });
  const page = await stage.open("#/tree?path=%2Fapp");
  await page.getByText("You may not write this node").waitFor();
  const offered = ["Edit", "New child", "New"].map((name) => page.getByRole("button", { name, exact: true }));
  for (const button of offered) expect(await button.count()).toBe(0);
  await page.getByRole("button", { name: "Delete" }).waitFor();
  for (const key of ["e", "n"]) await page.keyboard.press(key);
  expect([await page.getByRole("textbox", { name: "Data" }).count(), await page.getByRole("dialog").count()]).toEqual([
    0, 0,
  ]);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("tab", { name: "Access" }).click();
  await page.getByRole("region", { name: "Your rights" }).waitFor();
  expect(await page.getByRole("button", { name: "Edit access" }).count()).toBe(0);
  await logIn(page, ALICE);
  await page.getByRole("button", { name: "Edit access" }).waitFor();
  await page.getByRole("tab", { name: "Data" }).click();
  for (const button of offered) await button.waitFor();
});

test("the tab of the Stat shows the quota that holds, and how much of it is used", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/app/config", "12345", { parents: "persistent" });
  await stage.zk.create("/zookeeper/quota/app/zookeeper_limits", LIMITS, { parents: "persistent" });
  await stage.zk.create("/zookeeper/quota/app/zookeeper_stats", "count=0,bytes=0");
  const page = await stage.open("#/tree?path=%2Fapp%2Fconfig&tab=stat");
  const quota = page.getByRole("region", { name: "Quota" });
  await quota.getByText("Nodes: 2 of 10").waitFor();
  await quota.getByText("125 %, hard limit").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "quota-light");
  await quota.getByRole("link", { name: "/app" }).click();
  await quota.getByText("Of this node, with its descendants.").waitFor();
});
