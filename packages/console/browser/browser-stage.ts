import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { type Stage, startStage } from "../src/testing/stage.ts";

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** Screenshots for the documentation are written where this names a directory. */
const SHOTS = process.env["CONSOLE_SCREENSHOTS"];

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a run. */
function theBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox", "--disable-gpu"] });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/**
 * A server, its console, and pages of a browser. A test fails when a page logs an error or violates
 * its policy.
 */
export interface BrowserStage extends Stage {
  open(place?: string, options?: OpenOptions): Promise<Page>;
}

interface OpenOptions {
  /** Pages with one context have the same cookies. */
  readonly context?: BrowserContext;
  readonly colorScheme?: "light" | "dark";
  readonly viewport?: { readonly width: number; readonly height: number };
}

export async function startBrowserStage(
  options: Parameters<typeof startStage>[0] = {},
  server: Parameters<typeof startStage>[1] = {},
): Promise<BrowserStage> {
  return withPages(await startStage({ name: "example", ...options }, server));
}

/** Adds pages of a browser to a stage. */
export function withPages<T extends AsyncDisposable & { readonly url: string }>(
  stage: T,
): T & Pick<BrowserStage, "open"> {
  const contexts: BrowserContext[] = [];
  const errors: string[] = [];
  return {
    ...stage,
    async open(place = "", { colorScheme = "light", viewport = { width: 1280, height: 800 }, ...given } = {}) {
      const settings = { colorScheme, viewport, locale: "en-GB" };
      const context = given.context ?? (await (await theBrowser()).newContext(settings));
      if (given.context === undefined) contexts.push(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => errors.push(`page error: ${error.message}`));
      page.on("console", (message) => {
        // Refused requests are part of some tests; the browser logs each.
        const isRefusal = message.text().startsWith("Failed to load resource");
        if (["error", "warning"].includes(message.type()) && !isRefusal) errors.push(`console: ${message.text()}`);
      });
      page.on("request", (request) => {
        const { origin, protocol } = new URL(request.url());
        if (origin !== stage.url && protocol !== "data:" && protocol !== "blob:")
          errors.push(`request to ${request.url()}`);
      });
      await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) =>
          console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
        );
      });
      await page.goto(`${stage.url}/console/${place}`);
      await page.locator("main h1").first().waitFor();
      return page;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
      await stage[Symbol.asyncDispose]();
      expect(errors).toEqual([]);
    },
  };
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}
