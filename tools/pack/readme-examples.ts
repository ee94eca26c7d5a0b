import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The TypeScript of a package's README, block by block. */
export function readmeExamples(directory: string): readonly string[] {
  const text = readFileSync(join(directory, "README.md"), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? "");
}

/** What code imports, as it is written there. */
export function importsOf(code: string): readonly string[] {
  return [...code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
}
