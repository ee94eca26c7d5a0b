/**
 * Runs ten thousand rounds of each recipe and reports leaks: `npm run tool -- leak-cycles [rounds]
 * [name ...]`. Exits with 1 if there are any.
 */
import { LEAK_CYCLES } from "./leak-cycles.ts";
import { BYTES_PER_ROUND_MAX, LeakWorld } from "./leak-world.ts";

const [count = "10000", ...names] = process.argv.slice(2);
const chosen = LEAK_CYCLES.filter(({ name }) => names.length === 0 || names.includes(name));
if (chosen.length === 0) throw new Error(`there is ${LEAK_CYCLES.map(({ name }) => name).join(", ")}`);

for (const { name, oneIn = 1, begin } of chosen) {
  await using world = await LeakWorld.start();
  const rounds = Math.ceil(Number(count) / oneIn);
  const startMs = performance.now();
  const begun = await begin(world, "/cycled");
  const { leaked, bytesPerRound } = await world.run(rounds, begun.round);
  await begun.end?.();
  const isLeaking = leaked.length > 0 || bytesPerRound > BYTES_PER_ROUND_MAX;
  if (isLeaking) process.exitCode = 1;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(
    `${isLeaking ? "LEAKS" : "ok   "} ${name}: ${rounds} rounds in ${seconds} s, ${bytesPerRound.toFixed(1)} bytes a round`,
    ...leaked,
  );
}
