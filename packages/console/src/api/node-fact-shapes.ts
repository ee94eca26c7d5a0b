/** The API's facts of a node beside its data: rights and quota. */
import { z } from "zod";
import { path, permission } from "./shapes.ts";

const identity = z.object({ scheme: z.string(), id: z.string() });

export const right = z.object({
  action: z.enum(["read", "write", "create-children", "delete-children", "delete", "set-acl"]),
  permission: permission,
  node: path.meta({
    description: "The node whose access list decides: to delete a node takes a permission on its parent",
  }),
  verdict: z.enum(["yes", "no", "likely", "unknown"]).meta({
    description: "likely: only the hash of the entry is hidden; unknown: the list is hidden from this user",
  }),
  grants: z.array(identity).meta({ description: "The entries that grant it; empty for the superuser" }),
});
export type RightJson = z.infer<typeof right>;

export const rights = z.object({
  path,
  identities: z.array(identity).meta({ description: "Of the user, as the servers have them" }),
  isSuperuser: z.boolean(),
  rights: z.array(right),
  everyone: z.array(permission).meta({ description: "What every client may, without authentication" }),
});
export type RightsJson = z.infer<typeof rights>;

const quotaUse = z.object({
  used: z.string(),
  softLimit: z.string().nullable().meta({ description: "Beyond it the servers log a warning" }),
  hardLimit: z.string().nullable().meta({ description: "Beyond it writes are refused, where quotas are enforced" }),
});

export const quota = z.object({
  path,
  quota: z
    .object({
      path: path.meta({ description: "The node whose quota holds: the node itself, or its nearest ancestor with one" }),
      nodes: quotaUse,
      bytes: quotaUse,
    })
    .nullable(),
});
export type QuotaJson = z.infer<typeof quota>;
