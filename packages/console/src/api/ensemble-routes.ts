/** The servers: members and their problems, their clients, the last hour. */
import { z } from "zod";
import { includesRole } from "../access/role.ts";
import { type Route, route } from "./route.ts";
import { ensemble, metrics, sessions, yesNo } from "./shapes.ts";

const readEnsemble = route({
  ...{ method: "GET", path: "/ensemble", role: "viewer", summary: "The members, their figures and their problems" },
  query: z.object({}),
  reply: ensemble,
  handle: async ({ facts, client }) => ({ body: await facts.ensemble(client) }),
});

const listSessions = route({
  ...{
    method: "GET",
    path: "/sessions",
    role: "viewer",
    summary: "The clients' sessions, of every member that answers",
  },
  query: z.object({
    watches: yesNo.meta({ description: "Counts the watches of each, for operators: members list all of them" }),
  }),
  reply: sessions,
  async handle({ facts, client, role, query }) {
    const found = await facts.sessions(client);
    // Paths below nodes that a user may not list are not for every role.
    if (!includesRole(role, "operator"))
      return { body: { ...found, sessions: found.sessions.map((session) => ({ ...session, ephemerals: null })) } };
    if (query.watches !== "true") return { body: found };
    const { bySession, isIncomplete, notes } = await facts.watchCounts(client);
    const counted = found.sessions.map((session) => ({
      ...session,
      watches: bySession.get(session.id) ?? (isIncomplete ? null : 0),
    }));
    return { body: { ...found, sessions: counted, notes: [...found.notes, ...notes] } };
  },
});

const readMetrics = route({
  ...{ method: "GET", path: "/metrics", role: "viewer", summary: "Figures of the last hour" },
  query: z.object({}),
  reply: metrics,
  handle: async ({ history }) => ({ body: history.json() }),
});

export const ENSEMBLE_ROUTES: readonly Route[] = [readEnsemble, listSessions, readMetrics];
