export type { Role, RoleOptions } from "./access/role.ts";
export { Console, type ConsoleOptions, type ConsoleRequest } from "./console.ts";
export { ConsoleServer, type ConsoleServerOptions, type MoreEnsemble } from "./console-server.ts";
export type { EnsembleLink } from "./ensemble-link.ts";
export { type FourLetterWords, type MemberAddress, wordsByConnection } from "./facts/ensemble-facts.ts";
export type { AdminFields, OwnReport, OwnServer } from "./members/admin-ports.ts";
