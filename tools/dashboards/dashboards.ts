/**
 * Boards of Grafana, in deploy/grafana: made of tables in tools/dashboards.
 *
 *     npm run tool -- dashboards [--write]
 *
 * Without --write it fails where a file is not what its table says.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { ROOT } from "../pack/public-packages.ts";
import { BOARDS } from "./boards.ts";
import { grafanaJson } from "./grafana-json.ts";

const options = toolOptions({ write: false });
for (const board of BOARDS) {
  const file = join(ROOT, "deploy/grafana", `${board.uid}.json`);
  const text = grafanaJson(board);
  if (options.write) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.log(`${file} is not what its table says: npm run tool -- dashboards --write`);
    process.exitCode = 1;
  }
}
const panelCount = BOARDS.flatMap(({ rows }) => rows).flatMap(({ panels }) => panels).length;
console.log(
  process.exitCode === 1 ? "FAILED" : `${BOARDS.length} boards with ${panelCount} panels are what their tables say`,
);
