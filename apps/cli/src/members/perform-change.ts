import { type EnsembleConfig, isZkError } from "@zooid/client";
import { memberLines } from "@zooid/model";
import type { PlannedChange } from "@zooid/model/membership";
import type { Invocation } from "../command.ts";
import { NEVER_VERSION } from "../never-version.ts";
import { CONFIG_PATH, readConfiguration } from "./configuration.ts";
import { changedMeanwhile, refusal } from "./refusal.ts";

/**
 * Commits a change of exactly the configuration that it was planned for. @returns the version of
 * the new one
 */
export async function performChange(change: PlannedChange, invocation: Invocation): Promise<bigint> {
  const { connection, signal } = invocation;
  const { joining, leaving, current } = change;
  const client = await connection.ready({ isAbsolute: true, signal });
  let committed: EnsembleConfig;
  try {
    committed = await client.reconfig({ joining, leaving, fromVersion: BigInt(current.version) }, { signal });
  } catch (error) {
    if (isZkError(error, "CONNECTION_LOSS")) return await outcomeOf(change, invocation, error);
    if (isZkError(error, "BAD_VERSION")) throw changedMeanwhile();
    if (isZkError(error, "NO_AUTH")) throw notPermitted();
    if (isZkError(error, "BAD_ARGUMENTS") && change.next.verifier.voters.size < 2) {
      throw refusal(
        "BAD_ARGUMENTS",
        "the servers keep at least two voters, unless they are started with standaloneEnabled=false",
        "set standaloneEnabled=false on all servers and restart them one by one",
      );
    }
    throw error;
  }
  return committed.version;
}

/**
 * Has the servers check a change that they cannot carry out: whether changes are enabled, none is
 * under way, and this client may make them.
 *
 * @throws what they refuse it for
 */
export async function demandChangeable({ joining, leaving }: PlannedChange, invocation: Invocation): Promise<void> {
  const { connection, signal } = invocation;
  const client = await connection.ready({ isAbsolute: true, signal });
  try {
    await client.reconfig({ joining, leaving, fromVersion: VERSION_NEVER }, { signal });
  } catch (error) {
    if (!isZkError(error, "BAD_VERSION")) throw error;
  }
  try {
    // Servers check the version of a change before the permission to make it, which is this one.
    await client.set(CONFIG_PATH, null, { version: NEVER_VERSION, signal });
  } catch (error) {
    if (isZkError(error, "NO_AUTH")) throw notPermitted();
    if (!isZkError(error, "BAD_VERSION")) throw error;
  }
}

function notPermitted(): Error {
  return refusal(
    "NO_AUTH",
    "this client may not change the ensemble: the access list of /zookeeper/config does not give it WRITE",
    "give --auth 'digest super:password', or set ZOOID_ADMIN_AUTH",
  );
}

/** No configuration has it; -1 means any. */
const VERSION_NEVER = -2n;

/** A leader that leaves may close the connection before its answer arrives. */
async function outcomeOf({ next, current }: PlannedChange, invocation: Invocation, lost: unknown): Promise<bigint> {
  const { members } = await readConfiguration(invocation);
  const [found, wanted] = [members.servers, next.servers].map((servers) => memberLines(servers).join("\n"));
  if (found === wanted) return BigInt(members.version);
  if (members.version === current.version) {
    throw refusal(
      "CONNECTION_LOSS",
      "the connection was lost, and the change is not made so far",
      "print the members with member list, and try again",
    );
  }
  throw lost;
}
