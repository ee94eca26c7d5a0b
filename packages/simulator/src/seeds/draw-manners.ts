import type { Prng } from "../cluster/prng.ts";
import { SESSION_TIMEOUT_MS } from "../cluster/server-options.ts";
import type { Manners } from "../runs/plan.ts";

/** How clients behave when they do nothing out of the ordinary. */
export const PLAIN_MANNERS: Manners = {
  hasAcls: false,
  isContended: false,
  isRestless: false,
  restoresWatches: false,
  syncShare: 0,
  wrongPasswordShare: 0,
  timeoutsMs: [SESSION_TIMEOUT_MS],
};

export function drawManners(random: Prng): Manners {
  const hasTimeouts = random.chance(0.3);
  return {
    hasAcls: random.chance(0.3),
    isContended: random.chance(0.3),
    isRestless: random.chance(0.3),
    syncShare: random.chance(0.3) ? 20 : 0,
    wrongPasswordShare: random.chance(0.3) ? 100 : 0,
    timeoutsMs: hasTimeouts
      ? [SESSION_TIMEOUT_MS, 1.5 * SESSION_TIMEOUT_MS, 2 * SESSION_TIMEOUT_MS]
      : [SESSION_TIMEOUT_MS],
    restoresWatches: random.chance(0.5),
  };
}
