import type { Finding } from "../finding.ts";
import type { ApacheFacts } from "./apache-facts.ts";
import { joining } from "./joining.ts";
import { limitsToCopy } from "./limits-to-copy.ts";
import { sessions } from "./sessions.ts";
import { tree } from "./tree.ts";
import { versions } from "./versions.ts";

/**
 * The obstacles to a move from this ensemble to Zooid, and the preparations for it. A fact that
 * could not be seen leads to no finding: {@link apacheUnseen} names it.
 */
export function apacheFindings(facts: ApacheFacts): readonly Finding[] {
  return [...versions(facts), ...joining(facts), ...sessions(facts), ...limitsToCopy(facts), ...tree(facts)];
}
