import { formatSessionId, type SessionId, type Stat } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import { type Command, givenNode, wholeNumber } from "../../command.ts";
import type { Flag, Flags } from "../../command-flags.ts";
import { Progress } from "../../progress.ts";
import { readAge, readCount, readSize } from "../../texts/amount.ts";
import { globPattern } from "../../texts/name-glob.ts";
import { shownText } from "../../texts/shown-text.ts";
import { statJson } from "../../texts/stat-text.ts";
import { nameOf, noteForbidden, walk } from "../../walk.ts";

const taking = (name: string): Flag => ({ name, takesValue: true, isOwn: true });

export const find: Command = {
  name: "find",
  synopsis:
    "[-s] [--name glob] [--path glob] [--ephemeral] [--owner session] [--size [+-]n[k|M]] [--children [+-]n] " +
    "[--mtime [+-]n(s|m|h|d)] [--ctime …] [--depth n] [--limit n] [path]",
  flags: [
    { name: "s" },
    ...["name", "path", "owner", "size", "children", "mtime", "ctime", "depth", "limit"].map(taking),
    { name: "ephemeral", isOwn: true },
  ],
  summary: "Prints the nodes below a path that match all conditions; -s with owner, size, children and time.",
  operandsMax: 1,
  kind: "own",
  runsProgram: true,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const matches = conditionOf(flags, Date.now());
    const depthMax = wholeNumber(flags, "depth") ?? Number.POSITIVE_INFINITY;
    const limit = wholeNumber(flags, "limit") ?? Number.POSITIVE_INFINITY;
    const { path, client } = await givenNode(invocation, operands[0] ?? "/");
    const progress = new Progress(output, "visited");
    const counts = { visited: 0, found: 0, forbidden: 0 };
    for await (const node of walk(client, path, { detail: "stats", depthMax, signal })) {
      counts.visited++;
      progress.step(node.path);
      if (node.stat === null) {
        counts.forbidden++;
        continue;
      }
      if (!matches(node.path, node.stat)) continue;
      counts.found++;
      output.line(flags.has("s") ? statRow(node.path, node.stat) : shownText(node.path));
      output.json({ command: "find", item: { path: node.path, stat: statJson(node.stat) } });
      if (counts.found >= limit) break;
    }
    noteForbidden(output, counts.forbidden, [" and was passed over", " and were passed over"]);
    return { path, ...counts };
  },
};

type Condition = (path: string, stat: Stat) => boolean;

function conditionOf(flags: Flags, nowMs: number): Condition {
  const conditions: Condition[] = [];
  const given = (name: string, conditionFrom: (text: string) => Condition): void => {
    const text = flags.value(name);
    if (text !== undefined) conditions.push(conditionFrom(text));
  };
  given("name", (text) => {
    const pattern = globPattern(text);
    return (path) => pattern.test(nameOf(path));
  });
  given("path", (text) => {
    const pattern = globPattern(text);
    return (path) => pattern.test(path);
  });
  if (flags.has("ephemeral")) conditions.push((_, stat) => stat.ephemeralOwner !== 0n);
  given("owner", (text) => {
    const owner = sessionOf(text);
    return (_, stat) => BigInt.asUintN(64, stat.ephemeralOwner) === owner;
  });
  const givenAmount = (name: string, read: typeof readSize, of: (stat: Stat) => number): void =>
    given(name, (text) => {
      const amount = read(`--${name}`, text);
      return (_, stat) => amount(of(stat));
    });
  givenAmount("size", readSize, (stat) => stat.dataLength);
  givenAmount("children", readCount, (stat) => stat.numChildren);
  givenAmount("mtime", readAge, (stat) => nowMs - stat.mtimeMs);
  givenAmount("ctime", readAge, (stat) => nowMs - stat.ctimeMs);
  return (path, stat) => conditions.every((matches) => matches(path, stat));
}

function sessionOf(text: string): bigint {
  if (!/^0x[0-9a-fA-F]{1,16}$/.test(text)) {
    throw usageError(`--owner takes a session id as 0x and hexadecimal digits, found ${JSON.stringify(text)}`);
  }
  return BigInt(text);
}

function statRow(path: string, stat: Stat): string {
  const owner = stat.ephemeralOwner === 0n ? "-" : formatSessionId(stat.ephemeralOwner as SessionId);
  const time = new Date(stat.mtimeMs).toISOString();
  return [shownText(path), owner, stat.dataLength, stat.numChildren, time].join("\t");
}
