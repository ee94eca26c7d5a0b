import { connect } from "@zooid/client";
import { Mutex } from "@zooid/recipes";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("a lock's holder and queue are shown while clients contend, each with its session", async () => {
  await using stage = await startBrowserStage();
  const clients = await Promise.all(["first", "second"].map(() => connect(stage.server.connectString)));
  const locks = clients.map((client, i) => new Mutex(client, "/locks/backup", { data: `client ${i + 1}` }));
  const lease = await locks[0]?.acquire();
  const second = locks[1]?.acquire();
  const page = await stage.open("#/recipes");
  const recipe = page.getByRole("article", { name: "lock /locks/backup" });
  await recipe.locator("li.holds").getByText("client 1").waitFor();
  await recipe.locator("li.waits").getByText("client 2").waitFor();
  await lease?.release();
  const next = await second;
  await recipe.locator("li.holds").getByText("client 2").waitFor();
  expect(await recipe.locator("li.waits").count()).toBe(0);
  await recipe.locator("li.holds").getByRole("link", { name: /^0x/ }).click();
  await page.waitForURL(/#\/sessions\?filter=0x/);
  await page.getByRole("link", { name: /\/locks\/backup\// }).waitFor();
  await next?.release();
  await Promise.all(clients.map((client) => client.close()));
});
