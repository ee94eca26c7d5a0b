// Loaded by every Node.js process that a run of tests starts: one source file has a mutation in it.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const { file, source } = JSON.parse(readFileSync(process.env["ZOOID_MUTANT"] ?? "", "utf8"));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    return url.endsWith(`/${file}`) ? { ...loaded, source } : loaded;
  },
});
