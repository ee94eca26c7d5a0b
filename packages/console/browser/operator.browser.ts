import { connect, formatSessionId } from "@zooid/client";
import { afterAll, expect, test } from "vitest";
import { SUPER, startEnsembleStage } from "../src/testing/ensemble-stage.ts";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage, withPages } from "./browser-stage.ts";
import { logIn } from "./login.ts";

afterAll(closeBrowser);

test("a session that holds a node is found, and ended after a confirmation", async () => {
  await using stage = withPages(await startEnsembleStage({ name: "example" }));
  const victim = await connect([...stage.servers.values()][0]?.connectString ?? "");
  await victim.create("/held", "", { mode: "ephemeral" });
  const id = formatSessionId(victim.sessionId);
  const page = await stage.open("#/sessions?filter=%2Fheld");
  await logIn(page, SUPER);
  await page.getByRole("button", { name: id }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("link", { name: "/held" }).waitFor();
  await dialog.getByRole("button", { name: "End the session" }).click();
  await dialog.getByText("Its ephemeral nodes are deleted at once").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "session-light");
  expect(await stage.zk.exists("/held")).not.toBeNull();
  await dialog.getByRole("button", { name: `End ${id}` }).click();
  await page.getByText(`Session ${id} is ended`).waitFor();
  await expect.poll(() => stage.zk.exists("/held")).toBeNull();
  await victim.close();
});

test("four-letter words of each member are read and filtered", async () => {
  await using stage = await startBrowserStage();
  const page = await stage.open("#/words");
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText("Mode: standalone").waitFor();
  await page.getByRole("combobox", { name: "Word" }).selectOption("mntr");
  await page.getByRole("searchbox").fill("znode_count");
  await answer.getByText(/zk_znode_count\s+\d+/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "words-light");
});

test("the audit page shows writes and their users, as text, and can be paused", async () => {
  let write: Parameters<NonNullable<Parameters<typeof startBrowserStage>[0]>["audit"] & {}>[0] = () => {};
  await using stage = await startBrowserStage({
    audit: (next) => {
      write = next;
      return () => {};
    },
  });
  const page = await stage.open("#/audit");
  const entry = { atMs: Date.now(), session: "0x1", address: "127.0.0.1", result: "success" } as const;
  // The tail follows the server from the page's first request on.
  await page.waitForResponse(/\/api\/v1\/audit/);
  write([{ ...entry, user: "alice", operation: "setData", path: "/<img src=x onerror=window.pwned=1>" }]);
  const row = page.getByRole("row", { name: /setData/ });
  await row.getByText("<img src=x onerror=window.pwned=1>").waitFor();
  await row.getByText("alice").waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "audit-light");
  await page.getByRole("button", { name: "Pause" }).click();
  write([{ ...entry, user: "bob", operation: "delete", path: "/gone" }]);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("row", { name: /bob/ }).waitFor();
});

test("sessions are ordered by their ephemeral nodes, and grouped by address", async () => {
  await using stage = await startBrowserStage();
  const holder = await connect(stage.server.connectString);
  for (const path of ["/held-1", "/held-2"]) await holder.create(path, "", { mode: "ephemeral" });
  const page = await stage.open("#/sessions");
  await page.getByRole("combobox", { name: "Order by" }).selectOption("ephemerals");
  await page.locator("tbody tr").first().getByRole("link", { name: "/held-2" }).waitFor();
  await page.getByRole("combobox", { name: "Group by" }).selectOption("address");
  await page.getByText(/^127\.0\.0\.1: \d+ sessions$/).waitFor();
  const watch = holder.watchData$("/held-1").subscribe();
  await page.getByRole("combobox", { name: "Group by" }).selectOption("none");
  await page.getByRole("combobox", { name: "Order by" }).selectOption("watches");
  await page.getByRole("columnheader", { name: "Watches" }).waitFor();
  await page.getByRole("row", { name: /\/held-1/ }).waitFor();
  watch.unsubscribe();
  expect(await axeFindings(page)).toEqual([]);
  await holder.close();
});
