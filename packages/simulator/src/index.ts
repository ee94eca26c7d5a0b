export { Prng } from "./cluster/prng.ts";
export type { ChoicePoint, Deviation } from "./exhaustive/choice-points.ts";
export { type ExhaustiveResult, exploreAll, type Space } from "./exhaustive/explore.ts";
export { Violation } from "./invariants/violation.ts";
export { Ensemble, type RunReport } from "./seeds/ensemble.ts";
export { type Fault, type Plan, type PlanChanges, planOf } from "./seeds/plan.ts";
