export { type ChoicePoint, type Deviation, type DeviationKind, Ensemble, type RunReport } from "./ensemble.ts";
export { type ExhaustiveOptions, type ExhaustiveResult, exploreAll } from "./exhaustive.ts";
export { type Fault, type Plan, type PlanChanges, planOf } from "./plan.ts";
export { Prng } from "./prng.ts";
export { Violation } from "./violation.ts";
