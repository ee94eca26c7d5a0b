import type { HistoryChange, HistoryItem, ReachedChange } from "@zooid/client";
import { counted, formatZxid } from "@zooid/model";
import { type Command, givenNode, wholeNumber } from "../../command.ts";
import { follow } from "../../follow.ts";
import type { JsonObject } from "../../output.ts";
import { dataJson } from "../../texts/data-text.ts";
import { givenZxid } from "../../texts/given-zxid.ts";
import { shownText, textOf } from "../../texts/shown-text.ts";

export const changes: Command = {
  name: "changes",
  synopsis: "[-R] [--after zxid] [--follow] [--limit n] [--data] path",
  flags: [
    { name: "R", isOwn: true },
    { name: "after", takesValue: true, isOwn: true },
    { name: "follow", isOwn: true },
    { name: "limit", takesValue: true, isOwn: true },
    { name: "data", isOwn: true },
  ],
  summary:
    "Prints the changes of a node that a server with a history keeps, oldest first; -R with those of the nodes below, --data with their values; with --follow those to come, until Ctrl-C.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const after = givenZxid(flags, "after");
    const limit = wholeNumber(flags, "limit") ?? Number.POSITIVE_INFINITY;
    const { path, client } = await givenNode(invocation);
    const options = { recursive: flags.has("R"), ...(after !== undefined && { after }) };
    let count = 0;
    const show = (item: HistoryItem): void => {
      if (count >= limit) return;
      if (item.kind === "change") count++;
      output.line(lineOf(item, { hasPath: options.recursive, hasData: flags.has("data") }));
      output.json({ command: "changes", item: jsonOf(item) });
    };
    if (flags.has("follow")) {
      const ended = new AbortController();
      await follow<HistoryItem | ReachedChange>(
        client.changes$(path, options),
        AbortSignal.any([signal, ended.signal]),
        (item) => {
          if (item.kind !== "reached") show(item);
          if (count >= limit) ended.abort();
        },
      );
      return { path, changes: count };
    }
    for await (const item of client.history(path, { signal, ...options })) {
      show(item);
      if (count >= limit) break;
    }
    return { path, changes: count };
  },
};

function lineOf(
  item: HistoryItem,
  { hasPath, hasData }: { readonly hasPath: boolean; readonly hasData: boolean },
): string {
  if (item.kind === "gap") {
    return `the history lacks the transactions after ${formatZxid(item.after)} and up to ${formatZxid(item.end)}`;
  }
  const { path, zxid, timeMs, op, version, data, isReadable, who } = item;
  const place = hasPath ? ` ${shownText(path)}` : "";
  const size = data === null ? "" : ` ${counted(data.length, "byte")}`;
  const value =
    hasData && data !== null ? ` ${shownText(textOf(data) ?? `0x${Buffer.from(data).toString("hex")}`)}` : "";
  const by = who === null ? "" : ` by ${shownText([...who.identities, who.address].join(" at "))}`;
  const hidden = !isReadable && setsData(item) ? " (not readable then)" : "";
  return `${formatZxid(zxid)} ${new Date(timeMs).toISOString()} ${op}${place} version ${version}${size}${by}${value}${hidden}`;
}

function setsData({ op }: HistoryChange): boolean {
  return op.startsWith("CREATE") || op === "SET_DATA";
}

/** Zxids as text, since JSON's readers round numbers. */
function jsonOf(item: HistoryItem): JsonObject {
  if (item.kind === "gap") return { kind: "gap", after: formatZxid(item.after), end: formatZxid(item.end) };
  const { path, zxid, timeMs, op, version, data, isReadable, who } = item;
  const time = new Date(timeMs).toISOString();
  return {
    kind: "change",
    path,
    zxid: formatZxid(zxid),
    time,
    op,
    version,
    isReadable,
    who: who === null ? null : { ...who },
    ...dataJson(data),
  };
}
