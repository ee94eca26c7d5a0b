import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
  }[];
}

/**
 * The findings of axe on a page, one line for each element. The debugger evaluates it: the page's
 * policy holds.
 */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(SOURCE);
  const { violations } = (await page.evaluate("axe.run(document)")) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}
