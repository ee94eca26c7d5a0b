import { type Client, isZkError } from "@zooid/client";
import { memberLines } from "@zooid/model";
import type { MemberChangedJson, MemberChangeJson } from "../api/shapes.ts";
import { refuse } from "../http/problem.ts";
import { checkedPlan, readConfiguration, type ServerStates, versionOf, versionText } from "./member-plan.ts";

export interface ChangeOptions {
  readonly change: MemberChangeJson;
  /** Version of the configuration for which the change was checked. */
  readonly version: string;
  readonly servers: ServerStates;
  readonly signal: AbortSignal;
}

/** Makes the first step of a change, over exactly the configuration for which it was checked. */
export async function makeChange(
  client: Client,
  { change, version, servers, signal }: ChangeOptions,
): Promise<MemberChangedJson> {
  const configuration = await readConfiguration(client, signal);
  if (versionText(configuration.members) !== version) throw changedMeanwhile();
  const { next: step, plan } = await checkedPlan(configuration, change, servers);
  if (!plan.mayProceed) {
    const failed = plan.checks.filter(({ state }) => state === "failed").map(({ text }) => text);
    throw refuse(409, "CHECKS_FAILED", "The change is not safe now", { detail: failed.join("; ") });
  }
  const { joining, leaving, next } = step;
  const remainingCount = plan.steps.length - 1;
  try {
    const made = await client.reconfig({ joining, leaving, fromVersion: versionOf(version) }, { signal });
    return { version: `0x${made.version.toString(16)}`, remainingCount };
  } catch (error) {
    if (isZkError(error, "BAD_VERSION")) throw changedMeanwhile();
    if (isZkError(error, "BAD_ARGUMENTS") && next.verifier.voters.size < 2) {
      const detail = "set standaloneEnabled=false on all servers and restart them one by one";
      throw refuse(422, "LAST_VOTERS", "The servers keep at least two voters", { detail });
    }
    if (!isZkError(error, "CONNECTION_LOSS")) throw error;
    // A leader that leaves may close the connection before its answer arrives.
    const { members } = await readConfiguration(client, signal);
    if (memberLines(members.servers).join("\n") !== memberLines(next.servers).join("\n")) throw error;
    return { version: versionText(members), remainingCount };
  }
}

function changedMeanwhile(): Error {
  const detail = "Look at the members again, and check the change again";
  return refuse(412, "BAD_VERSION", "The configuration was changed by another client meanwhile", { detail });
}
