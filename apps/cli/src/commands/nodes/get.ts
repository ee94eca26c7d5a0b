import { formatZxid, type NodeData, type PastNode, type Watched } from "@zooid/client";
import { usageError } from "../../cli-error.ts";
import { type Command, FLAG_STAT, FLAG_WATCH, givenNode } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import type { JsonObject } from "../../output.ts";
import { dataJson, dataText } from "../../texts/data-text.ts";
import { givenMoment } from "../../texts/given-zxid.ts";
import { hexDumpLines } from "../../texts/hex-dump.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const get: Command = {
  name: "get",
  synopsis: "[-s] [-w] [-b] [-x] path",
  flags: [
    FLAG_STAT,
    FLAG_WATCH,
    { name: "b", meaning: "Output data in base64 format" },
    { name: "x", meaning: "Output data in hexdump format" },
    { name: "hex", isOwn: true },
    { name: "at", takesValue: true, isOwn: true },
  ],
  summary:
    "Prints a node's data: as text, base64 (-b), a dump (-x) or plain hexadecimal (--hex); with --at those behind a zxid, or at a time.",
  operandsMin: 1,
  describesFlags: true,
  pathOperand: 0,
  async run(invocation) {
    const { connection, flags, operands, output, signal } = invocation;
    if (operands.length > 1) {
      output.note("'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.");
    }
    const at = givenMoment(flags, "at");
    const watch = flags.has("w") || operands.length > 1;
    if (at !== undefined && (watch || flags.has("s")))
      throw usageError("--at prints the data of a node of the past, without -s and -w");
    const { path, client } = await givenNode(invocation);
    if (at !== undefined) {
      const past = await client.get(path, { at, signal });
      output.lines(dataLines(past.data, flags));
      return { path, ...dataJson(past.data), ...pastJson(past) };
    }
    const found: NodeData & Partial<Watched> = await (watch
      ? client.get(path, { watch, signal })
      : client.get(path, { signal }));
    connection.watches.addOneShot("data", path, found.watch);
    output.lines(dataLines(found.data, flags));
    if (flags.has("s")) output.lines(statLines(found.stat));
    return { path, ...dataJson(found.data), stat: statJson(found.stat) };
  },
};

/** Zxids as text, since JSON's readers round numbers. */
function pastJson({ aversion, ctimeMs, czxid, mtimeMs, mzxid, version }: PastNode): JsonObject {
  return {
    czxid: formatZxid(czxid),
    ctime: new Date(ctimeMs).toISOString(),
    mzxid: formatZxid(mzxid),
    mtime: new Date(mtimeMs).toISOString(),
    version,
    aversion,
  };
}

function dataLines(data: Uint8Array | null, flags: Flags): readonly string[] {
  // zkCli encodes the word `null` for missing data.
  const bytes = data ?? Buffer.from("null");
  if (flags.has("x")) return hexDumpLines(bytes);
  if (flags.has("hex")) return [data === null ? "" : Buffer.from(data).toString("hex")];
  if (flags.has("b")) return [Buffer.from(bytes).toString("base64")];
  return [dataText(data)];
}
