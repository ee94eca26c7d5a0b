/**
 * Measures the page in Chromium, in front of a server in memory, and prints a table. It asserts
 * nothing: figures depend on the machine and its load.
 *
 *     npm run figures -w packages/console -- [--children 1000000] [--minutes 10] [--rate 1000] [--only paint,node]
 */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "@zooid/client";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { startStage } from "../src/testing/stage.ts";

const { values } = parseArgs({
  options: {
    children: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "1000" },
    only: { type: "string", default: "paint,node,children,memory" },
  },
});
const [childCount, minutes, rate] = [values.children, values.minutes, values.rate].map(Number);
const parts: ReadonlySet<string> = new Set(values.only.split(","));
const ROUNDS = 11;
const BATCH = 500;
const CHANGED_NODES = 1_000;
const TICK_MS = 50;

const rows: Record<string, string | number>[] = [];
function report(figure: string, value: string | number, target = ""): void {
  rows.push({ figure, value, target });
  console.error(`${figure}: ${value}`);
}

await using stage = await startStage({ name: "figures" });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
});
try {
  if (parts.has("paint")) await measureFirstPaint(browser);
  if (parts.has("node")) await measureNodes(browser, stage.zk);
  if (parts.has("children")) await measureManyChildren(browser, stage.zk, childCount ?? 0);
  if (parts.has("memory")) await measureMemory(browser, stage.zk);
} finally {
  await browser.close();
}
console.table(rows);

async function openPage(from: Browser, place: string): Promise<Page> {
  const page = await (await from.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(`${stage.url}/console/${place}`);
  return page;
}

/** With an empty cache in each round. */
async function measureFirstPaint(from: Browser): Promise<void> {
  const [paints, ready]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    const page = await openPage(from, "#/ensemble");
    await page.locator("article.member").waitFor();
    ready.push(await page.evaluate(() => performance.now()));
    paints.push(
      await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN),
    );
    await page.context().close();
  }
  report("first contentful paint, ms", median(paints), "below 1000");
  report("members shown, ms", median(ready));
}

/** From the click to the frame in which the data is drawn. */
async function measureNodes(from: Browser, zk: Client): Promise<void> {
  await zk.create("/nodes");
  for (let i = 0; i < 20; i++) await zk.create(`/nodes/n${i + 10}`, `data of ${i + 10}`);
  const page = await openPage(from, "#/tree?path=%2Fnodes%2Fn10");
  await page.getByRole("treeitem", { name: "n29" }).waitFor();
  const times: number[] = [];
  for (let i = 11; i < 30; i++) {
    const row = page.getByRole("treeitem", { name: `n${i}` });
    times.push(await row.evaluate(timeOfClick, `data of ${i}`));
  }
  report("node opens, ms", median(times), "below 100");
  report("node opens, slowest of 19, ms", Math.max(...times));
  await page.context().close();
}

function timeOfClick(element: Element, text: string): Promise<number> {
  const startMs = performance.now();
  (element as HTMLElement).click();
  return new Promise((resolve) => {
    const look = (): void => {
      const shown = document.querySelector("section.data")?.textContent ?? "";
      if (shown.includes(text)) resolve(Math.round(performance.now() - startMs));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

async function measureManyChildren(from: Browser, zk: Client, count: number): Promise<void> {
  await zk.create("/many");
  for (let i = 0; i < count; i += BATCH) {
    let all = zk.transaction();
    for (let j = i; j < Math.min(count, i + BATCH); j++) {
      all = all.create(`/many/n${String(j).padStart(8, "0")}`) as unknown as typeof all;
    }
    await all.commit();
  }
  const page = await openPage(from, "#/tree?path=%2F");
  const parent = page.getByRole("treeitem", { name: /^many/ });
  await parent.waitFor();
  const openedMs = await page.evaluate(() => performance.now());
  report(`the tree's page, opened with ${count.toLocaleString("en")} nodes, ms`, Math.round(openedMs), "below 1000");
  const first = await parent.evaluate((element: Element) => {
    const startMs = performance.now();
    element.querySelector<HTMLElement>(".twist")?.click();
    return new Promise<number>((resolve) => {
      const look = (): void => {
        if (document.body.textContent.includes("n00000000")) resolve(Math.round(performance.now() - startMs));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  });
  report(`first rows of ${count.toLocaleString("en")} children, ms`, first, "below 1000");
  const scrolled = await page.getByRole("tree").evaluate(async (tree: Element) => {
    const gaps: number[] = [];
    let lastMs = performance.now();
    const endMs = lastMs + 5_000;
    while (lastMs < endMs) {
      tree.scrollTop += 300;
      await new Promise(requestAnimationFrame);
      gaps.push(performance.now() - lastMs);
      lastMs = performance.now();
    }
    gaps.sort((a, b) => a - b);
    const at = (part: number): number => Math.round(gaps[Math.floor(part * (gaps.length - 1))] ?? 0);
    return { top: tree.scrollTop, median: at(0.5), worst: at(0.99) };
  });
  report("scrolled for 5 s, rows", Math.round(scrolled.top / 30));
  report("frame while scrolling, median, ms", scrolled.median);
  report("frame while scrolling, 99 of 100, ms", scrolled.worst);
  const name = `n${String(Math.min(count - 1, 15_000)).padStart(8, "0")}`;
  const startMs = performance.now();
  await page.getByRole("searchbox").fill(name);
  await page.getByRole("treeitem", { name }).waitFor();
  report("filter finds the child 15,000, ms", Math.round(performance.now() - startMs));
  await page.context().close();
}

/**
 * Memory of the page of changes, which draws each. It is sampled each minute, to show whether it
 * grows.
 */
async function measureMemory(from: Browser, zk: Client): Promise<void> {
  const blank = await (await from.newContext()).newPage();
  await blank.goto("about:blank");
  report("an empty page's renderer, MiB", (await renderers(from))[0] ?? 0);
  await blank.context().close();
  await zk.create("/live");
  for (let i = 0; i < CHANGED_NODES; i++) await zk.create(`/live/n${i}`);
  const page = await openPage(from, "#/live");
  await page.getByText("Live", { exact: true }).waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  report("JavaScript heap before changes, MiB", await heapMib(session));
  report("renderer before changes, MiB", (await renderers(from))[0] ?? 0);
  const startMs = performance.now();
  const endMs = startMs + (minutes ?? 0) * 60_000;
  let sampleMs = startMs + 60_000;
  let changeCount = 0;
  const pending: Promise<unknown>[] = [];
  while (performance.now() < endMs) {
    // After a pause of this process the rate is lower, rather than the queue longer.
    const due = Math.min(changeCount + BATCH, Math.floor(((performance.now() - startMs) / 1000) * (rate ?? 0)));
    for (; changeCount < due; changeCount++) {
      pending.push(zk.set(`/live/n${changeCount % CHANGED_NODES}`, String(changeCount)));
    }
    await Promise.all(pending.splice(0));
    if (performance.now() >= sampleMs) {
      const minute = Math.round((sampleMs - startMs) / 60_000);
      sampleMs += 60_000;
      const sizes = `heap ${await heapMib(session)}, renderer ${(await renderers(from))[0] ?? 0}`;
      console.error(`after ${minute} min: ${changeCount} changes, MiB: ${sizes}`);
    }
    await delay(TICK_MS);
  }
  const seconds = (performance.now() - startMs) / 1000;
  report("changes a second", Math.round(changeCount / seconds));
  report("changes", changeCount);
  report("changes that the page shows", await page.locator("tbody tr").count());
  report("JavaScript heap after changes, MiB", await heapMib(session));
  report("renderer after changes, MiB", (await renderers(from))[0] ?? 0, "below 150");
  await page.context().close();
}

async function heapMib(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  return mib(metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0);
}

/**
 * The private memory of the renderers, the largest first, without pages shared with the browser,
 * such as its code.
 */
async function renderers(from: Browser): Promise<readonly number[]> {
  const session = await from.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => privateKib(id))
    .map((kib) => mib(kib * 1024))
    .toSorted((a, b) => b - a);
}

/** 0 for a process that has ended since it was listed. */
function privateKib(pid: number): number {
  const file = `/proc/${pid}/smaps_rollup`;
  if (!existsSync(file)) return 0;
  const found = readFileSync(file, "utf8").matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm);
  return [...found].reduce((sum, [, kib]) => sum + Number(kib), 0);
}

function mib(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}

function median(numbers: readonly number[]): number {
  return Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN);
}
