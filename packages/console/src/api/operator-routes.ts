/** Routes for operators beyond the tree: other sessions, four-letter words, the audit tail. */
import { z } from "zod";
import { leadingMember } from "../members/leading-member.ts";
import { auditLines, reload } from "../members/member-reports.ts";
import { position, queryTimeMs, serverNumber } from "./query-shapes.ts";
import { operatorRoute, type Route } from "./route.ts";
import { auditTail, reloaded, sessionId, sid, watched, word, wordAnswer } from "./shapes.ts";

/** Watched paths in one page. */
const WATCHES_MAX = 200;

const sessionWatches = operatorRoute("GET /sessions/watches", {
  summary: "The paths that a session watches, a page of 200",
  query: z.object({
    id: sessionId,
    from: position.default(0).meta({ description: "How many paths are left out before the page" }),
  }),
  reply: watched,
  handle: async ({ client, facts, query }) => ({
    body: await facts.watches(client, query.id, { from: query.from, countMax: WATCHES_MAX }),
  }),
});

const endSession = operatorRoute("POST /sessions/end", {
  summary: "Ends a session before its timeout, by the leader's admin port: its ephemeral nodes are deleted",
  body: z.strictObject({ id: sessionId }),
  reply: z.object({ id: sessionId }),
  async handle({ client, facts, admin, body, user, signal }) {
    const { sid: leader } = await leadingMember(client, facts);
    await admin.run({ sid: leader, name: "end_session", query: { id: body.id }, user, signal });
    return { body: { id: body.id } };
  },
});

const askWord = operatorRoute("GET /words", {
  summary: "A member's answer to a four-letter word",
  query: z.object({ word, sid: serverNumber.optional() }),
  reply: wordAnswer,
  handle: async ({ client, facts, query }) => ({ body: await facts.answer(client, query.word, query.sid) }),
});

const readAudit = operatorRoute("GET /audit", {
  summary: "The newest writes of a member's own clients, from the first request on",
  query: z.object({
    sid: serverNumber,
    since: queryTimeMs.default("0").meta({ description: "`since` of the answer before" }),
    after: position.default(0).meta({ description: "`number` of the last entry that is known" }),
  }),
  reply: auditTail,
  handle: async ({ admin, user, signal, query }) => ({ body: await auditLines({ admin, user, signal }, query) }),
});

const reloadConfiguration = operatorRoute("POST /config/reload", {
  summary: "Lets a member read its configuration again, by its admin port, or only says what would change",
  body: z.strictObject({ sid, isDryRun: z.boolean().default(false) }),
  reply: reloaded,
  handle: async ({ admin, user, signal, body }) => ({ body: await reload({ admin, user, signal }, body) }),
});

export const OPERATOR_ROUTES: readonly Route[] = [sessionWatches, endSession, askWord, readAudit, reloadConfiguration];
