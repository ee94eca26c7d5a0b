/**
 * Changes of an ensemble's members: how they are named, what each request is, and which are safe.
 */
export { type Configuration, clientAddressOf, parseConfiguration, withRole } from "./membership/configuration.ts";
export { joinerSettings } from "./membership/joiner-settings.ts";
export {
  type MemberChange,
  memberOf,
  type NamedServer,
  type PlannedChange,
  type PlannedReplacement,
  parseNamedServer,
  parseSid,
  plannedAdd,
  plannedRemove,
  plannedReplacement,
  plannedRole,
  votersText,
} from "./membership/member-change.ts";
export { type MemberRule, MemberRuleError } from "./membership/member-rule-error.ts";
export {
  type Catching,
  catchingOf,
  catchingText,
  epochOfText,
  hasItsRole,
  isLeading,
  isServing,
  type Joiner,
  lagOf,
  leaderIn,
  leaderThatMoves,
  type MemberStates,
  missingVoters,
  newestZxid,
  notDown,
  SERVING,
  type ServerState,
  type ServerStatus,
  spareText,
  survivesOneFailure,
} from "./membership/server-states.ts";
