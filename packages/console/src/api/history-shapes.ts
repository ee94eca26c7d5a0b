/** Requests and answers of the routes of a node's past. */
import { z } from "zod";
import { data, path, timeMs, zxid } from "./shapes.ts";

const author = z.object({
  address: z.string().meta({ description: "Of the client's connection, which a proxy may have made" }),
  identities: z.array(z.string()).meta({ description: "In short, such as digest:alice" }),
});

const change = z.object({
  kind: z.literal("change"),
  path,
  zxid,
  time: timeMs,
  op: z.string().meta({ description: "The request, such as CREATE or SET_DATA" }),
  version: z.int().meta({ description: "Of the data, or for SET_ACL of the access list, after it" }),
  dataLength: z.int().nullable().meta({ description: "null: it has no data, or they were not readable then" }),
  isReadable: z.boolean().meta({ description: "Whether the user might have read the data then" }),
  who: author.nullable().meta({ description: "null for users without the permission admin on the node" }),
});
export type ChangeJson = z.infer<typeof change>;

const gap = z.object({
  kind: z.literal("gap"),
  after: zxid,
  end: zxid.meta({ description: "Transactions behind `after` and up to here are not in the history" }),
});

export const historyPage = z.object({
  path,
  items: z.array(z.discriminatedUnion("kind", [change, gap])),
  next: zxid.nullable().meta({ description: "The cursor of the next page: pass it as `after`" }),
});
export type HistoryPageJson = z.infer<typeof historyPage>;
export type HistoryItemJson = HistoryPageJson["items"][number];

/** The node's version that a step depends on; null where there is no node. */
const guard = z.int().min(0).nullable();

export const undoPlan = z.object({
  path,
  zxid,
  step: z.enum(["none", "set", "create", "delete", "impossible"]).meta({
    description: "What gives the node the state before; impossible: it was ephemeral, or a TTL node, and is gone",
  }),
  version: guard.meta({ description: "The version now; null where there is no node. Pass it to POST /undo" }),
  before: data.nullable(),
  now: data.nullable(),
  isMasked: z.boolean().meta({ description: "Data is left out, because the name looks like a secret's" }),
});
export type UndoPlanJson = z.infer<typeof undoPlan>;

export const undoRequest = z.strictObject({ path, zxid, version: guard });
export const undone = z.object({ path, step: z.enum(["none", "set", "create", "delete"]) });
