import type { Children, Client, Watched } from "@zooid/client";
import { usageError } from "../../cli-error.ts";
import { type Command, FLAG_STAT, FLAG_WATCH, givenNode, type Invocation } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { inOrder, visitDepthFirst } from "../../subtree.ts";
import { givenMoment } from "../../texts/given-zxid.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const ls: Command = {
  name: "ls",
  synopsis: "[-s] [-w] [-R] path",
  flags: [
    FLAG_STAT,
    FLAG_WATCH,
    { name: "R" },
    { name: "page", isOwn: true },
    { name: "at", takesValue: true, isOwn: true },
  ],
  summary:
    "Lists a node's children, or its descendants (-R), or very many children as they come (--page); with --at those behind a zxid, or at a time.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    if (operands.length > 1) {
      output.note("'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.");
    }
    const at = givenMoment(flags, "at");
    if (at !== undefined && (operands.length > 1 || ["s", "w", "R", "page"].some((name) => flags.has(name))))
      throw usageError("--at lists the children of a node of the past, without -s, -w, -R and --page");
    const { path, client } = await givenNode(invocation);
    if (at !== undefined) {
      const children = inOrder((await client.children(path, { at, signal })).names);
      output.line(`[${children.join(", ")}]`);
      return { path, children };
    }
    if (flags.has("page")) return await listPages(invocation, { client, path });
    const watch = flags.has("w") || operands.length > 1;
    return flags.has("R")
      ? await listAll(invocation, { client, path, watch })
      : await list(invocation, { client, path, watch });
  },
};

interface Listing {
  readonly client: Client;
  readonly path: string;
  readonly watch: boolean;
}

async function list(
  { connection, flags, output, signal }: Invocation,
  { client, path, watch }: Listing,
): Promise<JsonObject> {
  const found: Children & Partial<Watched> = await (watch
    ? client.children(path, { watch, signal })
    : client.children(path, { signal }));
  connection.watches.addOneShot("child", path, found.watch);
  const children = inOrder(found.names);
  output.line(`[${children.join(", ")}]`);
  if (flags.has("s")) output.lines(statLines(found.stat));
  return { path, children, stat: statJson(found.stat) };
}

/** A line for each child, with the version and the size of its data on request (-s). */
async function listPages(
  { flags, output, signal }: Invocation,
  { client, path }: Pick<Listing, "client" | "path">,
): Promise<JsonObject> {
  const hasStats = flags.has("s");
  const isJson = output.format === "json";
  const children: JsonObject[] = [];
  const pages = client.childPages(path, { detail: hasStats ? "stats" : "names", signal });
  for await (const page of pages) {
    for (const { name, stat } of page.children) {
      output.line(hasStats ? [name, stat?.version ?? "-", stat?.dataLength ?? "-"].join("\t") : name);
      if (isJson) children.push({ name, ...(hasStats && { stat: stat === null ? null : statJson(stat) }) });
    }
  }
  return { path, children };
}

async function listAll(
  { connection, output, signal }: Invocation,
  { client, path, watch }: Listing,
): Promise<JsonObject> {
  const isJson = output.format === "json";
  const paths: string[] = [];
  await visitDepthFirst(client, path, {
    signal,
    ...(watch ? { watches: connection.watches } : {}),
    visit: (found) => {
      output.line(found);
      if (isJson) paths.push(found);
    },
  });
  return { path, paths };
}
