/** The answers of the ensemble's servers, as facts. */
import { type AdminFields, ZXID_NONE } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/membership";
import { numberIn, textIn, zxidIn } from "../answer-fields.ts";
import type { MemberFacts } from "./facts.ts";

/** @throws RangeError for an answer of another server */
export function memberFacts(name: string, fields: AdminFields): MemberFacts {
  const clients = textIn(fields, "clients");
  if (clients !== "open" && clients !== "closed" && clients !== "closed-again")
    throw new RangeError(`clients must be open, closed or closed-again, found ${JSON.stringify(clients)}`);
  const { server_id: sid, apache_epoch: epoch, apache_epoch_note: note } = fields;
  return {
    name,
    fault: undefined,
    sid: typeof sid === "number" ? sid : undefined,
    isServing: fields["is_serving"] === true,
    isLeader: fields["is_leader"] === true,
    sids: sidsIn(fields["servers"]),
    clients,
    closedAt: fields["closed_at"] === null ? undefined : zxidIn(fields, "closed_at"),
    zxid: zxidIn(fields, "zxid"),
    connections: numberIn(fields, "connections"),
    sessions: numberIn(fields, "sessions"),
    keptSessions: numberIn(fields, "kept_sessions"),
    apacheEpoch: typeof epoch === "number" ? epoch : undefined,
    apacheEpochNote: typeof note === "string" ? note : undefined,
  };
}

function sidsIn(text: unknown): readonly number[] | undefined {
  return typeof text === "string" ? parseConfiguration(text).members.servers.map(({ sid }) => sid) : undefined;
}

export function silentMember(name: string, fault: string): MemberFacts {
  return {
    name,
    fault,
    sid: undefined,
    isServing: false,
    isLeader: false,
    sids: undefined,
    clients: "open",
    closedAt: undefined,
    zxid: ZXID_NONE,
    connections: 0,
    sessions: 0,
    keptSessions: 0,
    apacheEpoch: undefined,
    apacheEpochNote: undefined,
  };
}
