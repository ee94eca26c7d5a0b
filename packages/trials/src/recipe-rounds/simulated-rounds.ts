import type { RecipeKind } from "@zooid/recipes/testing/contenders";
import { playRound, type RoundReport } from "./round.ts";
import { SimulatedWorld } from "./simulated-world.ts";

export interface Rounds {
  readonly rounds: number;
  readonly firstSeed: number;
  /** Whether there is no time for another. */
  isEnough(): boolean;
  tell(recipe: string, seed: number, report: RoundReport): void;
}

/** A round that does not end by then is stuck. */
const ROUND_MS_MAX = 600_000;

export async function playSimulated(
  recipes: readonly RecipeKind[],
  { rounds, firstSeed, isEnough, tell }: Rounds,
): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + rounds && !isEnough(); seed++) {
    for (const recipe of recipes) {
      const world = new SimulatedWorld(seed);
      const round = async (): Promise<RoundReport> => {
        const report = await playRound(world, recipe, "r");
        await world.close();
        return report;
      };
      const failed = (error: unknown): RoundReport => {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        return { grants: 0, lost: 0, entries: 0, faults: [], violations: [text] };
      };
      tell(recipe.name, seed, await world.ensemble.run(round, { deadlineMs: ROUND_MS_MAX }).catch(failed));
      await world.ensemble.close();
    }
  }
}
