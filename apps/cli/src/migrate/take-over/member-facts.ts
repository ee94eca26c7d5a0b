/** The answers of the new ensemble's members, as facts. */
import type { AdminFields } from "@zooid/model";
import { numberIn } from "../answer-fields.ts";
import type { HistoryPlace, MemberFacts } from "./facts.ts";
import { placeIn } from "./follower-facts.ts";

/** @throws RangeError for an answer of another server */
export function memberFacts(name: string, fields: AdminFields): MemberFacts {
  const { clients, last_error: lastError } = fields;
  if (clients !== "open" && clients !== "closed" && clients !== "closed-again")
    throw new RangeError(`clients must be open, closed or closed-again, found ${JSON.stringify(clients)}`);
  const taken = stateIn(fields["taken_over"]);
  return {
    name,
    fault: undefined,
    isLeader: fields["is_leader"] === true,
    clients,
    standby: stateIn(fields["standby"]),
    lastError: typeof lastError === "string" ? lastError : undefined,
    installed: taken === undefined ? undefined : { epoch: numberIn(fields, "epoch"), ...taken },
  };
}

export function silentMember(name: string, fault: string): MemberFacts {
  return {
    name,
    fault,
    isLeader: false,
    clients: undefined,
    standby: undefined,
    lastError: undefined,
    installed: undefined,
  };
}

function stateIn(value: unknown): HistoryPlace | undefined {
  return typeof value === "object" && value !== null ? placeIn(value as AdminFields) : undefined;
}
