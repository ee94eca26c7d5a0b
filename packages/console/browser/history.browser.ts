import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("the history of a node shows its changes, and an undo first the difference", async () => {
  const folder = await mkdtemp(join(tmpdir(), "zooid-history-"));
  try {
    const history = { retainMs: 3_600_000, fileMs: 100 };
    await using stage = await startBrowserStage({}, { dataDir: join(folder, "data"), history });
    await stage.zk.create("/config", "host=db1\nport=1\n");
    await stage.zk.set("/config", "host=db2\nport=1\n");
    const page = await stage.open("#/tree?path=%2Fconfig&tab=history");
    const rows = page.getByRole("region", { name: "Changes, newest first" }).locator("tbody tr");
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: "Look again" }).click();
        return await rows.count();
      }, 20_000)
      .toBe(2);
    expect(await rows.first().textContent()).toMatch(/data written116 B.*127\.0\.0\.1/);
    expect(await axeFindings(page)).toEqual([]);
    await screenshot(page, "history-light");
    await rows.first().getByRole("button", { name: /^Undo/ }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Undo a change" });
    await dialog.getByText("added: host=db1").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await stage.zk.set("/config", "host=db2\nport=1\n");
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await dialog.getByText("The node was changed meanwhile").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await rows.first().getByRole("button", { name: /^Undo/ }).click();
    await dialog.getByText("added: host=db1").waitFor();
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await stage.zk.getText("/config")).toBe("host=db1\nport=1\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
