/** Recipes in use, and the sessions that wait for each other, as the API shows them. */
import { z } from "zod";
import { path, sessionId, timeMs } from "./shapes.ts";

export const contender = z.object({
  name: z.string(),
  path,
  sequence: z.int().nullable(),
  state: z.enum(["holds", "waits"]),
  kind: z.enum(["exclusive", "shared"]),
  owner: sessionId.nullable(),
  since: timeMs,
  text: z.string().nullable(),
});
export type ContenderJson = z.infer<typeof contender>;

export const recipe = z.object({
  path,
  kind: z.enum(["lock", "read-write lock", "semaphore", "election", "queue", "group", "services"]),
  library: z.string(),
  holderCount: z.int(),
  waitingCount: z.int(),
  contenders: z.array(contender),
  isCut: z.boolean(),
});
export type RecipeJson = z.infer<typeof recipe>;

export const wait = z.object({
  from: sessionId.meta({ description: "The session that waits" }),
  to: sessionId.meta({ description: "The session that must let go first" }),
  path: path.meta({ description: "The lock" }),
});
export type WaitJson = z.infer<typeof wait>;

export const waitCycle = z.object({
  waits: z.array(wait).meta({ description: "Each leads to the next, and the last to the first" }),
});
export type WaitCycleJson = z.infer<typeof waitCycle>;

export const recipes = z.object({
  recipes: z.array(recipe),
  waits: z.array(wait),
  cycles: z
    .array(waitCycle)
    .meta({ description: "Sessions that wait for each other, each of which must give up or be ended" }),
  scannedCount: z.int(),
  isCut: z.boolean().meta({ description: "The tree has more nodes than one scan visits" }),
  intervalMs: z.int().meta({ description: "Earlier requests are answered with the same scan" }),
});
export type RecipesJson = z.infer<typeof recipes>;

export const recipePart = z.object({
  recipes: z.array(recipe),
  scannedCount: z.int(),
  total: z.int().nullable().meta({ description: "The descendants of the node, with the first part; null: not known" }),
  next: z
    .object({ path, isVisited: z.boolean() })
    .nullable()
    .meta({ description: "Where the next part begins; null: all is looked at" }),
});
export type RecipePartJson = z.infer<typeof recipePart>;
