import { connect, digest, formatSessionId } from "@zooid/client";
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

test("the audit page has the writes of all members and their users, as text, and can be paused and filtered", async () => {
  await using stage = withPages(await startEnsembleStage({ name: "example" }));
  const [first, second] = await Promise.all(
    [1, 2].map((sid) =>
      connect(stage.servers.get(sid)?.connectString ?? "", { auth: [digest(sid === 1 ? "alice" : "bob", "secret")] }),
    ),
  );
  if (first === undefined || second === undefined) throw new Error("there are two clients");
  const page = await stage.open("#/audit");
  // The anonymous operator is refused by each member.
  await page.getByText("Server 2 gives no lines").waitFor();
  await logIn(page, SUPER);
  await page.goto(`${page.url().split("#")[0]}#/audit`);
  await page.reload();
  // The tail follows a member from the page's first request on.
  for (const sid of [1, 2])
    await page.waitForResponse((answer) => answer.url().includes(`/audit?sid=${sid}`) && answer.ok());
  await first.create("/<img src=x onerror=window.pwned=1>", "");
  await second.create("/of-bob", "");
  const row = page.getByRole("row", { name: /alice/ });
  await row.getByText("<img src=x onerror=window.pwned=1>").waitFor();
  await row.getByText("Server 1").waitFor();
  await page.getByRole("row", { name: /Server 2.*\/of-bob.*bob/ }).waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "audit-light");
  await page.getByRole("searchbox", { name: "User" }).fill("bob");
  await row.waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "User" }).fill("");
  await page.getByRole("button", { name: "Pause" }).click();
  await second.delete("/of-bob");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("row", { name: /delete.*bob/ }).waitFor();
  await stage.stop(2);
  await page.getByText(/^Server 2 gives no lines/).waitFor({ timeout: 60_000 });
  await Promise.all([first.close(), second.close()]);
});

test("sessions are grouped by user and by client", async () => {
  await using stage = withPages(await startEnsembleStage({ name: "example" }));
  const client = await connect(stage.servers.get(2)?.connectString ?? "", { auth: [digest("alice", "secret")] });
  const page = await stage.open("#/sessions");
  await logIn(page, SUPER);
  await page.getByRole("combobox", { name: "Group by" }).selectOption("user");
  await page.getByText(/^digest:alice: 1 session$/).waitFor();
  await page.getByRole("combobox", { name: "Group by" }).selectOption("client");
  await page.getByText(/^without TLS: \d+ sessions$/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await client.close();
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
