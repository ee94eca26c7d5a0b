import type { Client } from "@zooid/client";
import { isLeading } from "@zooid/model/membership";
import type { MemberJson } from "../api/shapes.ts";
import type { EnsembleFacts } from "../facts/ensemble-facts.ts";
import { refuse } from "../http/problem.ts";

/** @throws ProblemError while no member leads */
export async function leadingMember(client: Client, facts: EnsembleFacts): Promise<MemberJson> {
  const { members } = await facts.ensemble(client);
  const leader = members.find(({ role }) => isLeading({ mode: role, zxid: undefined }));
  if (leader === undefined) throw refuse(409, "NO_LEADER", "No member leads now");
  return leader;
}
