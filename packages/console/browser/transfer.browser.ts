import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

test("a subtree goes out as a file, and comes in elsewhere after a dry run", async () => {
  await using stage = await startBrowserStage();
  const { zk } = stage;
  await zk.create("/app");
  const names = Array.from({ length: 600 }, (_, i) => `n${String(i).padStart(3, "0")}`);
  for (const name of names) await zk.create(`/app/${name}`, `data of ${name} <script>alert(1)</script>`);
  await zk.create("/app/password", "hunter2");
  await zk.create("/copy");
  await zk.create("/copy/n000", "other");
  const page = await stage.open("#/tree?path=%2Fapp");
  await page.getByRole("link", { name: "Export or import here" }).click();
  const [out, into] = ["Export", "Import"].map((name) => page.getByRole("region", { name, exact: true }));
  if (out === undefined || into === undefined) throw new RangeError("two regions are expected");
  await out.getByRole("button", { name: "Export" }).click();
  await out.getByText("601 nodes are exported.").waitFor();
  await out.getByText("1 nodes are left out because their names look like secrets'.").waitFor();
  const downloading = page.waitForEvent("download");
  await out.getByRole("link", { name: "Save the file" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("zooid-subtree.jsonl");
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(603);
  expect(lines.at(-1)).toBe(`{"end":true,"nodes":601}`);

  const file = { name: "subtree.jsonl", mimeType: "application/octet-stream", buffer: Buffer.from(lines.join("\n")) };
  await into.getByLabel("File", { exact: true }).setInputFiles(file);
  await into.getByLabel("To the node").fill("/copy");
  await into.getByLabel("Nodes that are there already").selectOption("replace");
  await into.getByRole("button", { name: "Dry run" }).click();
  const dryRun = into.getByRole("region", { name: "Dry run" });
  await dryRun.getByText("599 would be created").waitFor();
  await dryRun.getByText("1 would be replaced").waitFor();
  await dryRun.getByText("1 are the same already").waitFor();
  await dryRun.getByRole("link", { name: "/copy/n000" }).waitFor();
  expect(await zk.getAllChildrenNumber("/copy")).toBe(1);
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "transfer-light");
  await into.getByRole("button", { name: "Write 600 nodes" }).click();
  await into.getByRole("region", { name: "Imported" }).getByText("599 created").waitFor();
  expect(await zk.getAllChildrenNumber("/copy")).toBe(600);
  expect(await zk.getText("/copy/n000")).toBe("data of n000 <script>alert(1)</script>");
});

test("a file that is no subtree is refused, with its line", async () => {
  await using stage = await startBrowserStage();
  const page = await stage.open("#/transfer?path=%2F");
  const into = page.getByRole("region", { name: "Import", exact: true });
  const buffer = Buffer.from('{"format":"zooid-subtree","version":1}\n{"path":"/a","data":null}\n{"pa');
  await into.getByLabel("File", { exact: true }).setInputFiles({ name: "x", mimeType: "text/plain", buffer });
  await into.getByRole("button", { name: "Dry run" }).click();
  await into.getByText("Line 3 is not JSON").waitFor();
  expect(await stage.zk.exists("/a")).toBeNull();
  expect(await axeFindings(page)).toEqual([]);
});
