export type { ClientLink, Direction } from "./client-link.ts";
export { VirtualDeadlineError } from "./deadline-error.ts";
export type { TestClientOptions } from "./ensemble-clients.ts";
export { type EnsembleEvent, formatEvent, type ServerStatus } from "./events.ts";
export { forSeeds, SeedError, type SeedRange } from "./for-seeds.ts";
export type { DurationRange, FaultDuration, RunOptions, TestEnsembleOptions } from "./options.ts";
export { FAULT_KINDS, type FaultKind, type RandomFaultOptions, type RandomFaults } from "./random-faults.ts";
export { TestEnsemble } from "./test-ensemble.ts";
