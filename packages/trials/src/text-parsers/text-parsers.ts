/**
 * Reads random texts by every parser of texts that strangers, clients, servers or files bring. Exit
 * status 1 with the texts that end in a defect.
 *
 *     npm run tool -- text-parsers [--count 100000] [--seed 1]
 */
import { Random } from "@zooid/conformance/internal/random";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { TEXT_PARSERS } from "./parsers.ts";
import { defectOf, randomText } from "./random-texts.ts";

const { count, seed } = toolOptions({ count: 100_000, seed: 1 });
for (const { name, parse, words } of TEXT_PARSERS) {
  const random = new Random(seed);
  const startMs = performance.now();
  for (let i = 0; i < count; i++) {
    const text = randomText(random, words);
    const defect = defectOf(parse, text);
    if (defect === undefined) continue;
    console.error(`${name}: ${JSON.stringify(text)}: ${defect}`);
    process.exitCode = 1;
  }
  console.log(`${name}: ${count} texts in ${Math.round(performance.now() - startMs)} ms`);
}
