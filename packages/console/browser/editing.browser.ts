import { digestId } from "@zooid/client";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

/**
 * Presses Tab until the element with this name, and of this role if one is given, has the focus.
 */
async function tabTo(page: Page, name: string, role?: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element?.closest("label")?.childNodes[0]?.textContent;
      const text = (element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "").trim();
      return { text, role: element?.getAttribute("role") };
    });
    if (focused.text === name && (role === undefined || focused.role === role)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`no Tab leads to ${name}`);
}

async function focusTree(page: Page): Promise<void> {
  await tabTo(page, "Tree of nodes");
}

test("a node is created, edited, given another access list, and deleted by the keyboard alone", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/app");
  const page = await stage.open("#/tree");
  await page.getByRole("treeitem", { name: /^app/ }).waitFor();
  await focusTree(page);
  await page.keyboard.press("ArrowDown");
  await page.waitForURL(/path=%2Fapp/);

  await page.keyboard.press("n");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "Name");
  await page.keyboard.type("greeting");
  await page.keyboard.press("Tab");
  await page.keyboard.type('{"a":1}');
  await tabTo(page, "Create");
  await page.keyboard.press("Enter");
  await page.waitForURL(/path=%2Fapp%2Fgreeting/);
  expect(await stage.zk.getText("/app/greeting")).toBe('{"a":1}');

  await page.locator("section.data").getByText('"a": 1').waitFor();
  await page.keyboard.press("e");
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"a":2}');
  await page.waitForFunction(() => document.querySelector("textarea")?.value === '{"a":2}');
  await page.keyboard.press("Control+Enter");
  await page.getByRole("region", { name: "Difference" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("Saved /app/greeting as version 1").waitFor();
  expect(await stage.zk.getText("/app/greeting")).toBe('{"a":2}');

  await tabTo(page, "Data", "tab");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/tab=acl/);
  await page.getByRole("button", { name: "Edit access" }).waitFor();
  await tabTo(page, "Edit access");
  await page.keyboard.press("Enter");
  await tabTo(page, "Entry 1 may write");
  await page.keyboard.press("Space");
  await tabTo(page, "Save access");
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("Saved the access list").waitFor();
  expect((await stage.zk.getAcl("/app/greeting")).acl).toEqual([{ perms: 29, scheme: "world", id: "anyone" }]);

  await tabTo(page, "Delete");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete" });
  await dialog.waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await tabTo(page, "Add to the transaction");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/path=%2Fapp$/);
  expect(await stage.zk.exists("/app/greeting")).toBeNull();
});

test("a conflict shows both changes, and nothing is lost without a decision", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/config", "one\ntwo\nthree");
  const page = await stage.open("#/tree?path=%2Fconfig");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Data" }).fill("one\ntwo\nmine");
  await stage.zk.set("/config", "theirs\ntwo\nthree");
  await page.getByText("This node was changed meanwhile").waitFor();
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: /Conflict/ }).waitFor();
  expect(await page.locator(".diff .added").allTextContents()).toEqual(["+ added: theirs", "+ added: mine"]);
  expect(await stage.zk.getText("/config")).toBe("theirs\ntwo\nthree");
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "conflict-light");
  await page.getByRole("button", { name: "Replace theirs by yours" }).click();
  await page.getByText("Saved /config as version 2").waitFor();
  expect(await stage.zk.getText("/config")).toBe("one\ntwo\nmine");
});

test("two edits of different lines are merged, and both sides of a conflict are not saved", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/config", "one\ntwo\nthree\nfour");
  const page = await stage.open("#/tree?path=%2Fconfig");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.getByRole("textbox", { name: "Data" });
  const saveOver = async (mine: string, theirs: string): Promise<void> => {
    await area.fill(mine);
    const { version } = await stage.zk.set("/config", theirs);
    await page.getByText(`it has version ${version}`).waitFor();
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /Conflict/ }).waitFor();
  };
  await saveOver("one\ntwo\nthree\nmine", "theirs\ntwo\nthree\nfour");
  await page.getByText("can be merged").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Edit the merge" }).click();
  expect(await area.inputValue()).toBe("theirs\ntwo\nthree\nmine");

  await saveOver("theirs\nmine, too\nthree\nmine", "theirs\ntheirs, too\nthree\nfour");
  await page.getByText("One place was changed by both").waitFor();
  await page.getByRole("button", { name: "Edit the merge" }).click();
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("Line 2 begins a conflict").waitFor();
  await area.fill("theirs\nboth\nthree\nmine");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved /config as version 3").waitFor();
  expect(await stage.zk.getText("/config")).toBe("theirs\nboth\nthree\nmine");
});

test("two browsers see each other's changes at once", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/shared", "first");
  const [one, two] = [await stage.open("#/tree?path=%2Fshared"), await stage.open("#/tree?path=%2Fshared")];
  for (const page of [one, two]) {
    await page.getByText("Live", { exact: true }).waitFor();
    await page.locator("section.data").getByText("first").waitFor();
  }
  await one.getByRole("button", { name: "Edit", exact: true }).click();
  await one.getByRole("textbox", { name: "Data" }).fill("second");
  await one.getByRole("button", { name: "Review" }).click();
  await one.getByRole("button", { name: "Save" }).click();
  await two.locator("section.data").getByText("second").waitFor();
  await stage.zk.create("/created-elsewhere");
  for (const page of [one, two]) await page.getByRole("treeitem", { name: /created-elsewhere/ }).waitFor();
  await stage.zk.delete("/shared");
  for (const page of [one, two]) await page.getByText("This node has been deleted.").waitFor();
});

test("a subtree is deleted only after its name was typed", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/a/b/c", "", { parents: "persistent" });
  const page = await stage.open("#/tree?path=%2Fa");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Delete" });
  const confirm = dialog.getByRole("button", { name: "Delete", exact: true });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByRole("textbox").fill("a");
  await confirm.click();
  await page.getByText("Deleted /a and 2 descendants").waitFor();
  expect(await stage.zk.exists("/a")).toBeNull();
});

test("the command palette opens a node by its path, completed from the server", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/services/mail", "", { parents: "persistent" });
  const page = await stage.open();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("/serv");
  await page.getByRole("option", { name: "/services", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.getByRole("option", { name: "/services/mail" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/path=%2Fservices%2Fmail/);
  await page.getByRole("treeitem", { name: /mail/ }).waitFor();
});

test("an edited text keeps its line ends", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/dos", "first\r\nsecond\r\nthird\n");
  const page = await stage.open("#/tree?path=%2Fdos");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.locator("textarea:focus");
  await area.fill("first\nnew\nsecond\nthird\n");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved /dos as version 1").waitFor();
  expect(await stage.zk.getText("/dos")).toBe("first\r\nnew\r\nsecond\r\nthird\n");
});

test("a message covers no button", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/a", "line\n".repeat(60));
  const page = await stage.open("#/tree?path=%2Fa", { viewport: { width: 1280, height: 500 } });
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator("textarea:focus").fill("x");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Add to the transaction" }).click();
  await page.getByText("The transaction replaces the data of /a").waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("button", { name: "Cancel" }).waitFor();
  // What is on the screen at the middle of each button and field must be that button or field.
  const covered = await page.evaluate(() =>
    [...document.querySelectorAll("main button, main textarea, nav a, header button")].flatMap((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      // Parts that are scrolled out of their page or list are on no place of the screen.
      const part = element.closest("main, nav, header")?.getBoundingClientRect();
      if (width === 0 || y > Math.min(innerHeight, part?.bottom ?? 0)) return [];
      const shown = document.elementFromPoint(x, y);
      return element.contains(shown) ? [] : [element.textContent];
    }),
  );
  expect(covered).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
});

test("nothing can be edited while the page is disconnected", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/a", "1");
  const page = await stage.open("#/tree?path=%2Fa");
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator("textarea:focus").fill("2");
  await page.getByRole("button", { name: "Review" }).click();
  await stage.server.stop();
  await page.getByText("Disconnected: your text is kept").waitFor();
  for (const name of ["Save", "Add to the transaction"])
    expect(await page.getByRole("button", { name, exact: true }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Back" }).click();
  expect(await page.locator("textarea").inputValue()).toBe("2");
  expect(await page.getByRole("button", { name: "Review" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Cancel" }).click();
  for (const name of ["Edit", "New child", "Delete"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  await page.keyboard.press("e");
  await page.keyboard.press("n");
  expect(await page.locator("textarea").count()).toBe(0);
});

test("a node that the page may not read any more cannot be edited", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/a", "1");
  const page = await stage.open("#/tree?path=%2Fa");
  await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
  await stage.zk.setAcl("/a", [{ perms: 31, scheme: "digest", id: digestId("other", "secret") }]);
  await page.reload();
  await page.getByRole("alert").first().waitFor();
  expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "New child" }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Delete", exact: true }).isDisabled()).toBe(true);
});
