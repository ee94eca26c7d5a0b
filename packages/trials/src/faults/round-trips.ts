/**
 * Random histories of servers over their real files, which are so small that they roll, checkpoint
 * and purge after a few writes; servers are stopped and killed in between. After each start they
 * must hold what their answers promised, and start without a repair. A server also runs out of room
 * between two writes, and the data are replaced by snapshots of themselves: from the admin port,
 * and from the files of a stopped server into an empty directory.
 *
 *     npm run tool -- round-trips [--acts 10000] [--servers 1|3] [--seed N] [--shrink]
 *
 * With --servers 3 it is an ensemble in one process, one member of which is away at a time: leaders
 * change, members that come back get a SNAP or a TRUNC, and ensembles are founded on a snapshot
 * that one server has restored alone. A history that fails is printed with the seed that repeats
 * it; with --shrink, which takes minutes, the shortest one that fails as well.
 */

import { newSeed, oneOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type Act, type ActWeights, actsArbitrary } from "@zooid/embedded-server/testing/acts";
import { ENSEMBLE_ACTS, StoredEnsemble } from "@zooid/embedded-server/testing/stored-ensemble";
import { STORED_ACTS, StoredHistory } from "@zooid/embedded-server/testing/stored-history";
import fc from "fast-check";

const options = toolOptions({ acts: 10_000, servers: oneOf("1", "3"), seed: newSeed(), shrink: false });
const ACTS_OF_ONE = 50;
const { acts, seed } = options;

console.log(`seed ${seed}`);
if (options.servers === "1") await run(STORED_ACTS, StoredHistory.run);
else await run(ENSEMBLE_ACTS, StoredEnsemble.run);

/** Random histories, and the sums of what they counted. */
async function run<Kind extends string>(
  weights: ActWeights<Kind>,
  perform: (history: readonly Act<Kind>[]) => Promise<object>,
): Promise<void> {
  const sums = new Map<string, number>();
  const add = (name: string, count: number): void => void sums.set(name, (sums.get(name) ?? 0) + count);
  await fc.assert(
    fc.asyncProperty(actsArbitrary(weights, { minLength: ACTS_OF_ONE, maxLength: ACTS_OF_ONE }), async (history) => {
      const counts = await perform(history);
      add("acts", history.length);
      for (const [name, count] of Object.entries(counts)) add(name, Number(count));
    }),
    { numRuns: Math.ceil(acts / ACTS_OF_ONE), seed, endOnFailure: !options.shrink },
  );
  console.log(
    `${[...sums].map(([name, count]) => `${name} ${count}`).join(", ")}: each start found what had been answered`,
  );
}
