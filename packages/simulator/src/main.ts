import { parseArgs } from "node:util";
import { runSimulation, SimulationFailure } from "./simulation.ts";

/** `npm run simulate -- --seeds N --from S [--steps N]`: runs seeds, says what they did, ends with 1 at the first that fails. */
const { values } = parseArgs({
  options: { seeds: { type: "string" }, from: { type: "string" }, steps: { type: "string" } },
});
const seeds = whole("seeds", values.seeds ?? "100");
const from = whole("from", values.from ?? "1");
const steps = whole("steps", values.steps ?? "2000");
let acknowledged = 0;
let crashes = 0;
for (let seed = from; seed < from + seeds; seed++) {
  try {
    const report = runSimulation({ seed, steps });
    acknowledged += report.acknowledgedWrites;
    crashes += report.crashes;
  } catch (error) {
    if (!(error instanceof SimulationFailure)) throw error;
    console.error(error.message);
    console.log(`${seed - from} passed, 1 failed`);
    process.exit(1);
  }
}
console.log(`${seeds * steps} steps, ${acknowledged} acknowledged writes, ${crashes} crashes`);
console.log(`${seeds} passed, 0 failed`);

function whole(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
