import { connect } from "@zooid/client";
import { Mutex } from "@zooid/recipes";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

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

test("sessions that wait for each other in a circle are named, with the locks", async () => {
  await using stage = await startBrowserStage();
  const names = ["billing", "shipping", "reports"];
  const clients = await Promise.all(names.map(() => connect(stage.server.connectString)));
  const lockOf = (i: number, path: string): Mutex => {
    const client = clients[i];
    if (client === undefined) throw new RangeError(`no client ${i}`);
    return new Mutex(client, path, { data: names[i] ?? "" });
  };
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const held = [await lockOf(0, "/locks/orders").acquire(), await lockOf(1, "/locks/stock").acquire()];
  const waiting = [
    lockOf(0, "/locks/stock").acquire({ signal }),
    lockOf(1, "/locks/orders").acquire({ signal }),
    lockOf(2, "/locks/orders").acquire({ signal }),
  ].map((each) => each.catch(() => undefined));
  const page = await stage.open("#/recipes");
  const cycle = page.getByRole("alert");
  await cycle.getByText("2 sessions wait for each other in a circle.").waitFor();
  await cycle
    .getByRole("listitem")
    .filter({ hasText: /^billing 0x\w+ waits for shipping 0x\w+ in \/locks\/stock$/ })
    .waitFor();
  const picture = page.getByRole("region", { name: "Picture of the waiting sessions" });
  await picture.locator(".wait-box").nth(2).waitFor();
  // A level edge has no height, which counts as hidden.
  await picture.locator(".wait-edge").nth(2).waitFor({ state: "attached" });
  await page.getByText("As a list").click();
  await page.locator(".wait-list").getByText("reports").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "waits-light");
  giveUp.abort();
  await cycle.waitFor({ state: "detached" });
  await Promise.all([...waiting, ...held.map((lease) => lease.release())]);
  await Promise.all(clients.map((client) => client.close()));
});

test("recipes of a large tree are found in parts, with progress, a stop and the path in the address", async () => {
  await using stage = await startBrowserStage();
  const { zk } = stage;
  const names = Array.from({ length: 3_500 }, (_, i) => String(i).padStart(4, "0"));
  for (const path of ["/many", "/z-last"]) await zk.create(path);
  await Promise.all(names.map((name) => zk.create(`/many/${name}`)));
  await zk.create("/z-last/members/m", "", { mode: "ephemeral", parents: "persistent" });
  const page = await stage.open("#/recipes");
  await page.getByText("the tree has more nodes than one look visits").waitFor();
  // The second part waits until the walk is stopped.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/recipes\/part.*from=/, async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Look at all nodes" }).click();
  await page.getByRole("progressbar", { name: "All nodes" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText(/^Stopped: 0 recipes in/).waitFor();
  release();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(/^Complete: 1 recipe in 3,5\d\d nodes$/).waitFor();
  await page.getByRole("article", { name: "group /z-last/members" }).waitFor();
  await page.getByRole("searchbox", { name: "Below" }).fill("/z-last");
  await page.waitForURL(/#\/recipes\?path=%2Fz-last$/);
  await page.getByText(/^1 found in/).waitFor();
  await page.getByRole("button", { name: "Look at all nodes" }).waitFor({ state: "detached" });
});
