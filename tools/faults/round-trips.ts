/**
 * Random histories of one server over its real files, which are so small that it rolls, folds and purges after a few writes; it is stopped and
 * killed in between. After each start it must hold what its answers promised, and start without a repair.
 *
 *     npm run tool -- round-trips [--acts 10000] [--seed N] [--shrink]
 *
 * A history that fails is printed with the seed that repeats it; with --shrink, which takes minutes, the shortest one that fails as well.
 */
import { parseArgs } from "node:util";
import fc from "fast-check";
import { actsArbitrary, StoredHistory } from "../../packages/server/src/testing/stored-history.ts";

const { values: options } = parseArgs({
  options: {
    acts: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    shrink: { type: "boolean", default: false },
  },
});
const ACTS_OF_ONE = 50;
const [acts, seed] = [whole("acts", options.acts), whole("seed", options.seed)];
const numRuns = Math.ceil(acts / ACTS_OF_ONE);
let [actCount, startCount] = [0, 0];

console.log(`seed ${seed}`);
await fc.assert(
  fc.asyncProperty(actsArbitrary({ minLength: ACTS_OF_ONE, maxLength: ACTS_OF_ONE }), async (history) => {
    const ran = await StoredHistory.run(history);
    actCount += history.length;
    startCount += ran.startCount;
  }),
  { numRuns, seed, endOnFailure: !options.shrink },
);
console.log(`${actCount} acts, ${startCount} starts: each found what had been answered`);

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
