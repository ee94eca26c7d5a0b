/** The servers: members and their problems, their clients, the last hour. */
import { z } from "zod";
import { includesRole } from "../access/role.ts";
import { sessionClients, withClients } from "../members/member-reports.ts";
import { type Route, viewerRoute } from "./route.ts";
import { ensemble, metrics, sessions, yesNo } from "./shapes.ts";

const readEnsemble = viewerRoute("GET /ensemble", {
  summary: "The members, their figures and their problems",
  reply: ensemble,
  handle: async ({ facts, client }) => ({ body: await facts.ensemble(client) }),
});

const listSessions = viewerRoute("GET /sessions", {
  summary: "The clients' sessions, of every member that answers",
  query: z.object({
    watches: yesNo.meta({ description: "Counts the watches of each, for operators: members list all of them" }),
    clients: yesNo.meta({ description: "Names the users of each and its kind of client, for operators" }),
  }),
  reply: sessions,
  async handle({ facts, client, role, query, admin, user, signal }) {
    const found = await facts.sessions(client);
    // Paths below nodes that a user may not list are not for every role.
    if (!includesRole(role, "operator"))
      return { body: { ...found, sessions: found.sessions.map((session) => ({ ...session, ephemerals: null })) } };
    let { sessions: listed, notes } = found;
    if (query.watches === "true") {
      const counts = await facts.watchCounts(client);
      listed = listed.map((session) => ({
        ...session,
        watches: counts.bySession.get(session.id) ?? (counts.isIncomplete ? null : 0),
      }));
      notes = [...notes, ...counts.notes];
    }
    if (query.clients === "true") {
      const { members } = await facts.ensemble(client);
      const clients = await sessionClients({ admin, user, signal }, members);
      listed = [...withClients(listed, clients.bySession)];
      notes = [...notes, ...clients.notes];
    }
    return { body: { ...found, sessions: listed, notes } };
  },
});

const readMetrics = viewerRoute("GET /metrics", {
  summary: "Figures of the last hour",
  reply: metrics,
  handle: async ({ history }) => ({ body: history.json() }),
});

export const ENSEMBLE_ROUTES: readonly Route[] = [readEnsemble, listSessions, readMetrics];
