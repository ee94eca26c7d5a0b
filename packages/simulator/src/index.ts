export { Prng } from "./prng.ts";
export { runSimulation, SimulationFailure, type SimulationOptions, type SimulationReport } from "./simulation.ts";
