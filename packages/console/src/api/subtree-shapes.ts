/** A subtree that goes out, or comes in, in pages. */
import { z } from "zod";
import { acl, data, path, writtenData } from "./shapes.ts";

export const IMPORTED_MAX = 500;

const below = z
  .string()
  .regex(/^(\/[^/]+)*$/)
  .meta({ description: "The path below the subtree's root; empty for the root itself" });

export const exportedNode = z.object({
  path: below,
  data: data.nullable(),
  isMasked: z.boolean().meta({ description: "The data is left out, because the name looks like a secret's" }),
  acl: acl.nullable().meta({ description: "null: hidden from this user" }),
});
export type ExportedNodeJson = z.infer<typeof exportedNode>;

export const exportPage = z.object({
  path,
  nodes: z.array(exportedNode).meta({ description: "Each behind its parent" }),
  next: z.string().nullable().meta({ description: "The cursor of the next page: pass it as `after`" }),
  total: z
    .int()
    .nullable()
    .meta({ description: "With the first page: about how many nodes there are; null: not known" }),
  ephemeralCount: z.int().meta({ description: "Nodes of sessions, which are left out" }),
  unreadableCount: z.int().meta({ description: "Nodes that the user may not read, which are left out" }),
});
export type ExportPageJson = z.infer<typeof exportPage>;

/** Data as a user gives them, or as an export has them: then the bytes count. */
const importedData = z.union([...writtenData.options, writtenData.options[0].extend(writtenData.options[1].shape)]);

/** A page of an export is accepted with the three fields that say what to do with it. */
export const importRequest = z.strictObject({
  path: path.meta({ description: "Where the root of the subtree goes" }),
  isDryRun: z.boolean().meta({ description: "Answers with what would be done, and writes nothing" }),
  existing: z.enum(["keep", "replace"]).meta({ description: "What happens to nodes that are there already" }),
  withAcl: z.boolean().meta({ description: "Sets the access lists too; without, new nodes are open to everyone" }),
  nodes: z
    .array(
      z.strictObject({
        path: below,
        data: importedData.nullable(),
        isMasked: z.boolean().optional().meta({ description: "As exported: such a node is refused" }),
        acl: acl.nullable().optional(),
      }),
    )
    .min(1)
    .max(IMPORTED_MAX)
    .meta({ description: "Each behind its parent" }),
  ...exportPage.pick({ next: true, total: true, ephemeralCount: true, unreadableCount: true }).partial().shape,
});
export type ImportRequestJson = z.infer<typeof importRequest>;

export const importOutcome = z.enum(["create", "replace", "same", "keep", "refuse"]);
export type ImportOutcome = z.infer<typeof importOutcome>;

export const importResult = z.object({
  results: z.array(
    z.object({
      path,
      outcome: importOutcome,
      detail: z.string().nullable().meta({ description: "Why it is refused" }),
    }),
  ),
});
export type ImportResultJson = z.infer<typeof importResult>;
