import type { MemberRule, MemberRuleError } from "@zooid/model/membership";
import { CliError, type CliErrorCode, usageError } from "../cli-error.ts";
import { refusal } from "./refusal.ts";

interface Meaning {
  readonly code: CliErrorCode;
  readonly hint?: string;
}

const MEANINGS: Readonly<Record<MemberRule, Meaning>> = {
  SERVER_NAME: { code: "USAGE" },
  NOT_A_MEMBER: { code: "NO_MEMBER" },
  MEMBER_ALREADY: {
    code: "MEMBER_EXISTS",
    hint: "change its vote with member promote or member demote, its addresses with reconfig -add",
  },
  ROLE_ALREADY: { code: "MEMBER_EXISTS", hint: "print the members with member list" },
  REPLACEMENT_IS_MEMBER: { code: "MEMBER_EXISTS", hint: "give the new server a number that no server has had" },
  REPLACEMENT_BY_ITSELF: { code: "USAGE" },
  VOTERS_HAVE_GROUPS: {
    code: "BAD_ARGUMENTS",
    hint: "write all server, group and weight lines into a file, and give it to reconfig -file",
  },
  NO_VOTER_LEFT: { code: "NO_QUORUM", hint: "add another voter first" },
  LINES: { code: "BAD_ARGUMENTS" },
  NO_CONFIGURATION: { code: "UNREADABLE_ANSWER" },
  NO_ENSEMBLE: { code: "UNREADABLE_ANSWER", hint: "name a member of an ensemble with -server" },
};

/** The error of the command line for a change that breaks a rule. */
export function errorOfRule({ rule, message }: MemberRuleError): CliError {
  const { code, hint } = MEANINGS[rule];
  if (code === "USAGE") return usageError(message);
  return hint === undefined ? new CliError(message, { code }) : refusal(code, message, hint);
}
