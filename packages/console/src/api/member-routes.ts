/** Changes of the ensemble itself: each is checked before it is made. For operators. */
import { z } from "zod";
import { leadingMember } from "../members/leading-member.ts";
import { makeChange } from "../members/make-change.ts";
import { checkedPlan, readConfiguration } from "../members/member-plan.ts";
import { serverNumber } from "./query-shapes.ts";
import { operatorRoute, type Route } from "./route.ts";
import { drainStatus, memberChange, memberChanged, memberPlan, sid } from "./shapes.ts";

const DRAIN_MS_MAX = 3_600_000;

const checkChange = operatorRoute("POST /members/check", {
  summary: "Plans and checks a change of the members",
  body: memberChange,
  reply: memberPlan,
  async handle({ client, body, facts, signal }) {
    const configuration = await readConfiguration(client, signal);
    return { body: (await checkedPlan(configuration, body, facts)).plan };
  },
});

const change = operatorRoute("POST /members", {
  summary: "Makes the next step of a checked change",
  body: z.strictObject({
    change: memberChange,
    version: z
      .string()
      .regex(/^0x[0-9a-f]{1,16}$/)
      .meta({ description: "`version` of the plan that was checked" }),
  }),
  reply: memberChanged,
  handle: async ({ client, body, facts, signal }) => ({
    body: await makeChange(client, { ...body, servers: facts, signal }),
  }),
});

const transferLeadership = operatorRoute("POST /leader/transfer", {
  summary: "Hands the leadership to another voter, by the leader's admin port",
  body: z.strictObject({ to: sid.nullable().meta({ description: "null: the one that suits best" }) }),
  reply: z.object({ leader: z.int() }),
  async handle({ client, body, facts, admin, user, signal }) {
    const { sid: leader } = await leadingMember(client, facts);
    const query: Readonly<Record<string, string>> = body.to === null ? {} : { to: String(body.to) };
    const fields = await admin.run({ sid: leader, name: "transfer_leadership", query, user, signal });
    return { body: { leader: Number(fields["leader_id"]) } };
  },
});

const atServer = z.object({ sid: serverNumber.default(0) });

const readDrain = operatorRoute("GET /drain", {
  summary: "How far a server's drain has come",
  query: atServer,
  reply: drainStatus,
  async handle({ query, admin, user, signal }) {
    const name = "drain_status";
    return { body: drainJson(await admin.run({ sid: query.sid, name, method: "GET", user, signal })) };
  },
});

const drain = operatorRoute("POST /drain", {
  summary: "Empties a server of its clients before maintenance, or ends that",
  query: atServer,
  body: z.strictObject({
    action: z.enum(["begin", "end"]),
    durationMs: z.int().min(0).max(DRAIN_MS_MAX).default(10_000),
  }),
  reply: drainStatus,
  async handle({ query, body, admin, user, signal }) {
    const begins = body.action === "begin";
    const name = begins ? "drain" : "undrain";
    const given: Readonly<Record<string, string>> = begins ? { durationMs: String(body.durationMs) } : {};
    return { body: drainJson(await admin.run({ sid: query.sid, name, query: given, user, signal })) };
  },
});

export const MEMBER_ROUTES: readonly Route[] = [checkChange, change, transferLeadership, readDrain, drain];

function drainJson(fields: Readonly<Record<string, unknown>>): z.infer<typeof drainStatus> {
  return {
    isDraining: fields["is_draining"] === true,
    connections: Number(fields["num_alive_connections"] ?? 0),
    isLeader: fields["is_leader"] === true,
  };
}
