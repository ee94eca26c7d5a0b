/**
 * Writes the pages of docs that are made from the code: all settings, and all events of the log.
 *
 *     npm run tool -- reference-pages
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { referencePages } from "./pages.ts";

for (const { file, text } of referencePages()) {
  writeFileSync(join(import.meta.dirname, "../../docs", file), text);
  console.log(`wrote docs/${file}`);
}
