/** Nodes that are written or watched most. */
import { z } from "zod";
import { includesRole } from "../access/role.ts";
import { type Route, viewerRoute } from "./route.ts";
import { path, timeMs } from "./shapes.ts";

const NODES_MAX = 100;

const hotSpots = z.object({
  startedAt: timeMs.meta({ description: "When the counting began: with the first request" }),
  seconds: z.number().meta({ description: "The time that the counts are of, two minutes at most" }),
  events: z.int().meta({ description: "Changes of all nodes in this time" }),
  nodes: z
    .array(
      z.object({
        path,
        created: z.int(),
        changed: z.int(),
        deleted: z.int(),
        perSecond: z.number(),
        watchers: z.int().nullable().meta({ description: "Sessions that watch its data; null: not known" }),
      }),
    )
    .meta({ description: "The most changed first" }),
  watched: z
    .array(z.object({ path: z.string(), sessions: z.int() }))
    .nullable()
    .meta({ description: "The nodes that most sessions watch; null: not this role's" }),
  notes: z.array(z.string()),
});
export type HotSpotsJson = z.infer<typeof hotSpots>;

const readHotSpots = viewerRoute("GET /hot-spots", {
  summary: "The nodes that change most, and those that most sessions watch; the first request starts the counting",
  reply: hotSpots,
  async handle({ client, facts, hotSpots: found, role }) {
    const { startedMs, spanMs, eventCount, nodes } = found.read(client, NODES_MAX);
    // Paths below nodes that a user may not list are not for every role.
    const watches = includesRole(role, "operator") ? await facts.watchCounts(client) : undefined;
    const seconds = spanMs / 1000;
    const rate = (count: number): number => (seconds === 0 ? 0 : Math.round((count / seconds) * 100) / 100);
    return {
      body: {
        startedAt: String(startedMs),
        seconds,
        events: eventCount,
        nodes: nodes.map((node) => ({
          ...node,
          perSecond: rate(node.created + node.changed + node.deleted),
          watchers: watches === undefined || watches.isIncomplete ? null : (watches.counts.get(node.path) ?? 0),
        })),
        watched: watches === undefined ? null : [...watches.top],
        notes: watches === undefined ? [] : [...watches.notes],
      },
    };
  },
});

export const HOT_SPOT_ROUTES: readonly Route[] = [readHotSpots];
