import { digestId } from "@zooid/client";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

const HOSTILE = [
  "<script>window.pwned=1</script>",
  "<img src=x onerror=window.pwned=1>",
  "javascript:window.pwned=1",
  '"><svg onload=window.pwned=1>',
  "\u202egnp.exe",
  "{{window.pwned=1}}<%= window.pwned=1 %>",
  "a".repeat(5_000),
  "%2e%2e%2f..%5c",
  "?path=%2F&tab=acl#x",
];

test("hostile names, values and access lists are text on every page", async () => {
  await using stage = await startBrowserStage();
  const names = HOSTILE.map((text) => text.replaceAll("/", "\u2215"));
  await stage.zk.create("/h");
  for (const [i, name] of names.entries()) await stage.zk.create(`/h/${name}`, HOSTILE[i] ?? "");
  await stage.zk.create("/h/acl", "", {
    acl: [
      { perms: 31, scheme: "world", id: "anyone" },
      { perms: 1, scheme: "digest", id: `${digestId("<img src=x onerror=window.pwned=1>", "x")}` },
    ],
  });
  const page = await stage.open("#/live");
  await page.getByText("Live", { exact: true }).waitFor();
  for (const name of names) await stage.zk.set(`/h/${name}`, name);
  await page
    .locator("tbody tr")
    .nth(names.length - 1)
    .waitFor();
  for (const name of names) {
    await page.goto(`${stage.url}/console/#/tree?${new URLSearchParams({ path: `/h/${name}` })}`);
    await page.locator("section.data pre").waitFor();
    // What is not shown is a character that changes the direction of text.
    if (!name.includes("\u202e")) expect(await page.locator("section.data pre").textContent()).toBe(name);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const shown = name.replace("\u202e", "⟨U+202E⟩").slice(0, 8);
    await page.getByRole("dialog").getByText(shown).first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.goto(`${stage.url}/console/#/tree?${new URLSearchParams({ path: "/h/acl", tab: "acl" })}`);
  await page.getByText("<img src=x onerror=window.pwned=1>:").waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
  expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
});

test("hostile texts of recipes, sessions, logins and the ensemble's name are text", async () => {
  const hostile = "<img src=x onerror=window.pwned=1>";
  const operator = `digest:${digestId(hostile, "secret")}`;
  await using stage = await startBrowserStage({ name: hostile, roles: { operators: [operator] } });
  await stage.zk.create(`/locks/${hostile}`, "", { parents: "persistent" });
  await stage.zk.create(`/locks/${hostile}/lock-`, hostile, { mode: "ephemeral-sequential" });
  await stage.zk.create(`/groups/${hostile}`, "", { parents: "persistent" });
  await stage.zk.create(`/groups/${hostile}/${hostile}`, hostile, { mode: "ephemeral" });
  const page = await stage.open();
  const login = async (user: string): Promise<void> => {
    await page.getByRole("button", { name: "Log in" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "User" }).fill(user);
    await dialog.getByLabel("Password").fill("secret");
    await dialog.getByRole("button", { name: "Log in" }).click();
  };
  await login(`${hostile}:`);
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.keyboard.press("Escape");
  await login(hostile);
  await page.locator(".user-name").getByText(hostile).waitFor();
  await page.locator(".ensemble-name").getByText(hostile).waitFor();
  await page.goto(`${stage.url}/console/#/recipes`);
  await page
    .locator("article.recipe", { hasText: `/locks/${hostile}` })
    .getByText(hostile, { exact: true })
    .waitFor();
  await page
    .locator("article.recipe", { hasText: `/groups/${hostile}` })
    .getByText(hostile, { exact: true })
    .first()
    .waitFor();
  await page.goto(`${stage.url}/console/#/sessions`);
  await page.getByRole("link", { name: `/groups/${hostile}/${hostile}` }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "A command" }).waitFor();
  await page.keyboard.type("/locks/<img");
  await page.getByRole("option", { name: `/locks/${hostile}` }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${stage.url}/console/#/tree?${new URLSearchParams({ path: `/none/${hostile}` })}`);
  await page.getByText("There is no such node.").waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
  expect(await page.locator("main img, header img, dialog img").count()).toBe(0);
});

test("text that changes its direction is shown by its numbers", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/bidi", "user\u202e gnp");
  const page = await stage.open("#/tree?path=%2Fbidi");
  await page.locator("section.data").getByText("user⟨U+202E⟩ gnp").waitFor();
});

/** As much as a request takes: a frame has 1 MiB less one byte. */
const VALUE_BYTES = 1_048_400;

test("the largest value opens, cut, is inert, and is edited", async () => {
  await using stage = await startBrowserStage();
  const line = "<script>window.pwned=1</script>\n";
  const value = line.repeat(VALUE_BYTES / line.length).padEnd(VALUE_BYTES, "x");
  await stage.zk.create("/big", value);
  await stage.zk.create("/line", "y".repeat(VALUE_BYTES));
  const page = await stage.open("#/tree?path=%2Fbig");
  await page.getByText("Only the beginning is shown").waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.getByRole("textbox", { name: "Data" });
  await area.evaluate((element: HTMLTextAreaElement) => {
    element.setRangeText("first\n", 0, 0);
    element.setRangeText("", element.value.length - 10, element.value.length);
    element.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("region", { name: "Difference" }).getByText("first").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved /big as version 1").waitFor();
  expect(await stage.zk.getText("/big")).toBe(`first\n${value.slice(0, -10)}`);
  await page.goto(`${stage.url}/console/#/tree?path=%2Fline`);
  await page.getByText("Only the beginning is shown").waitFor();
  expect(await page.evaluate(() => Object.hasOwn(window, "pwned"))).toBe(false);
});

test("binary values are shown as hex", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/bytes", new Uint8Array([0, 255, 254, 10, 65]));
  const page = await stage.open("#/tree?path=%2Fbytes");
  await page.getByText("00000000  00 ff fe 0a 41").waitFor();
});

test("a download is a file with a fixed name", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/page.html", "<script>window.pwned=1</script>");
  const page = await stage.open("#/tree?path=%2Fpage.html");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download the data" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("znode-data.bin");
});

test("secrets are masked until they are asked for", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/password", "hunter2");
  const page = await stage.open("#/tree?path=%2Fpassword");
  await page.getByText("looks like a secret's").waitFor();
  expect(await page.content()).not.toContain("hunter2");
  await page.getByRole("button", { name: "Show it" }).click();
  await page.getByText("hunter2").waitFor();
});

test("users log in, see what their role allows, and log out", async () => {
  const id = (user: string): string => `digest:${digestId(user, "secret")}`;
  await using stage = await startBrowserStage({ roles: { viewers: [id("bob")], editors: [id("alice")] } });
  await stage.zk.create("/a", "data");
  const page = await stage.open("#/tree?path=%2Fa");
  await page.getByRole("heading", { name: "Log in to see this ensemble" }).waitFor();
  const login = async (user: string, password: string): Promise<void> => {
    await page.getByRole("button", { name: "Log in" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "User" }).fill(user);
    await dialog.getByLabel("Password").fill(password);
    await dialog.getByRole("button", { name: "Log in" }).click();
  };
  await login("alice", "wrong");
  await page.getByText("the password is wrong").waitFor();
  await page.keyboard.press("Escape");
  await login("bob", "secret");
  await page.locator("section.data").getByText("data").waitFor();
  expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in to see this ensemble" }).waitFor();
  await login("alice", "secret");
  await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
});

test("ten thousand children scroll, and only visible rows are drawn", async () => {
  await using stage = await startBrowserStage();
  await stage.zk.create("/many");
  for (let i = 0; i < 10_000; i += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, j) => stage.zk.create(`/many/n${String(i + j).padStart(6, "0")}`)),
    );
  }
  const page = await stage.open("#/tree?path=%2Fmany");
  await page.getByRole("treeitem", { name: /many/ }).waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem", { name: "n000000" }).waitFor();
  await page.keyboard.press("End");
  await page.waitForURL(/zookeeper/);
  await page.getByRole("treeitem", { name: "n000200" }).waitFor();
  expect(await page.getByRole("treeitem").count()).toBeLessThan(60);
  await page.getByRole("searchbox").fill("n009999");
  await page.getByRole("treeitem", { name: "n009999" }).waitFor();
});
