export type { ChoicePoint, Deviation } from "./choice-points.ts";
export { Ensemble, type RunReport } from "./ensemble.ts";
export { type ExhaustiveResult, exploreAll, type Space } from "./exhaustive.ts";
export { type Fault, type Plan, type PlanChanges, planOf } from "./plan.ts";
export { Prng } from "./prng.ts";
export { Violation } from "./violation.ts";
