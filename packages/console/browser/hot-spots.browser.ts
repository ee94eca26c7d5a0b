import { connect } from "@zooid/client";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("the nodes with the most changes and watches, and the busiest clients, are listed", async () => {
  await using stage = await startBrowserStage();
  const { zk } = stage;
  for (const name of ["hot", "warm", "cold"]) await zk.create(`/${name}`);
  const watcher = await connect(stage.server.connectString);
  await watcher.get("/warm", { watch: true });
  const page = await stage.open("#/hot");
  const changed = page.getByRole("region", { name: "Most changed nodes" });
  await expect
    .poll(
      async () => {
        for (let i = 0; i < 20; i++) await zk.set("/hot", String(i));
        await zk.set("/cold", "once");
        // Without waiting for a row: changes count from the page's first request on, which may come
        // after these.
        return (await changed.locator("tbody tr").allTextContents())[0] ?? "";
      },
      { timeout: 30_000 },
    )
    .toMatch(/^\/hot/);
  await page.getByRole("region", { name: "Most watched nodes" }).getByRole("link", { name: "/warm" }).waitFor();
  await page.getByRole("region", { name: "Busiest clients" }).locator("tbody tr").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "hot-spots-light");
  await changed.getByRole("link", { name: "/hot" }).click();
  await page.waitForURL(/path=%2Fhot/);
  await watcher.close();
});
