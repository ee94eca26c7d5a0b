import { connect } from "@zooid/client";
import { Mutex } from "@zooid/recipes";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

const MARKUP = "<img src=x onerror=window.pwned=1>";
const HIDDEN = "\u202egnp.exe";
const HIDDEN_SHOWN = "⟨U+202E⟩gnp.exe";

test("hostile names and values are text in transactions, hot spots, imports and waiting sessions", async () => {
  await using stage = await startBrowserStage();
  const { zk } = stage;
  await zk.create("/h");
  for (const name of [MARKUP, HIDDEN]) await zk.create(`/h/${name}`, MARKUP);
  const holder = await connect(stage.server.connectString);
  const waiter = await connect(stage.server.connectString);
  const lease = await new Mutex(holder, `/locks/${HIDDEN}`, { data: MARKUP }).acquire();
  const giveUp = new AbortController();
  const waiting = new Mutex(waiter, `/locks/${HIDDEN}`, { data: HIDDEN })
    .acquire({ signal: giveUp.signal })
    .catch(() => undefined);

  const page = await stage.open("#/hot");
  const row = page.getByRole("region", { name: "Most changed nodes" }).getByText(HIDDEN_SHOWN);
  await expect
    .poll(
      async () => {
        for (const name of [MARKUP, HIDDEN]) await zk.set(`/h/${name}`, MARKUP);
        return row.count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);

  for (const [name, shown] of [
    [MARKUP, MARKUP],
    [HIDDEN, HIDDEN_SHOWN],
  ] as const) {
    const { version } = (await zk.get(`/h/${name}`)).stat;
    await page.goto(`${stage.url}/console/#/tree?${new URLSearchParams({ path: `/h/${name}`, tab: "stat" })}`);
    await page.getByRole("button", { name: `Add a check of version ${version} to the transaction` }).click();
    await page.getByText(`The transaction checks that /h/${shown} has version ${version}`).waitFor();
  }
  await page.getByRole("link", { name: "Transaction" }).click();
  await page.locator("li.draft").getByText(MARKUP).waitFor();
  await page.locator("li.draft").getByText(HIDDEN_SHOWN).waitFor();
  await page.getByRole("button", { name: "Discard all" }).click();

  await page.goto(`${stage.url}/console/#/transfer?path=%2Fh`);
  const into = page.getByRole("region", { name: "Import", exact: true });
  const lines = [
    { format: "zooid-subtree", version: 1 },
    ...[MARKUP, HIDDEN].map((name) => ({ path: `/${name}`, data: null })),
  ];
  const buffer = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
  await into
    .getByLabel("File", { exact: true })
    .setInputFiles({ name: `${MARKUP}.html`, mimeType: "text/html", buffer });
  await into.getByLabel("Nodes that are there already").selectOption("replace");
  await into.getByRole("button", { name: "Dry run" }).click();
  await into.getByRole("link", { name: `/h/${MARKUP}` }).waitFor();
  await into.getByRole("link", { name: `/h/${HIDDEN_SHOWN}` }).waitFor();

  await page.goto(`${stage.url}/console/#/recipes`);
  const waits = page.getByRole("region", { name: "Waiting sessions" });
  await waits.locator(".wait-box").nth(1).waitFor();
  expect((await waits.locator(".wait-box text:first-of-type").allTextContents()).join(" ")).toContain("⟨U+202E⟩");
  await page.getByText("As a list").click();
  await waits.getByRole("link", { name: `/locks/${HIDDEN_SHOWN}` }).waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
  expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
  giveUp.abort();
  await Promise.all([waiting, lease.release()]);
  await Promise.all([holder.close(), waiter.close()]);
});
