import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./public-packages.ts";

/** Pages whose programs are tried with a package, as those of its README. */
const PAGES: Readonly<Record<string, readonly string[]>> = { "@zooid/recipes": ["docs/shutdown.md"] };

export function pagesOf(name: string): readonly string[] {
  return PAGES[name] ?? [];
}

/** The TypeScript of a package's README, and of further pages of the repository, block by block. */
export function readmeExamples(directory: string, pages: readonly string[] = []): readonly string[] {
  const files = [join(directory, "README.md"), ...pages.map((page) => join(ROOT, page))];
  return files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? "");
  });
}

/** The imports of code, as they are written there. */
export function importsOf(code: string): readonly string[] {
  return [...code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
}
