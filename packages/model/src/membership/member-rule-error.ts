import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";

/** The rule of an ensemble that a change would break. */
export type MemberRule =
  /** A server is named by a number, and a joining one by its addresses, too. */
  | "SERVER_NAME"
  | "NOT_A_MEMBER"
  | "MEMBER_ALREADY"
  | "ROLE_ALREADY"
  /** The server that takes another one's place has another role or other addresses. */
  | "REPLACEMENT_IS_MEMBER"
  | "REPLACEMENT_BY_ITSELF"
  | "VOTERS_HAVE_GROUPS"
  | "NO_VOTER_LEFT"
  /** The lines do not make a configuration. */
  | "LINES"
  /** The text of the node is no configuration. */
  | "NO_CONFIGURATION"
  /** A server without an ensemble lists no servers. */
  | "NO_ENSEMBLE";

/** A change of an ensemble that no server should be asked for. */
export class MemberRuleError extends Error {
  override readonly name = "MemberRuleError";
  readonly rule: MemberRule;
  /** The rule's name. */
  readonly code: MemberRule;

  constructor(rule: MemberRule, message: string) {
    super(message);
    this.rule = rule;
    this.code = rule;
    keepCode(this, rule);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}
