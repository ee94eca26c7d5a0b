import { type Command, operand } from "../../command.ts";
import type { WatchedKind } from "../../connection/watches.ts";
import { checkedPath } from "../../texts/znode-path.ts";

const KINDS: ReadonlyMap<string, readonly WatchedKind[]> = new Map<string, readonly WatchedKind[]>([
  ["c", ["child"]],
  ["d", ["data"]],
  ["p", ["persistent"]],
  ["r", ["recursive"]],
  ["a", ["data", "child", "persistent", "recursive"]],
]);

export const removewatches: Command = {
  name: "removewatches",
  synopsis: "path [-c|-d|-a] [-l]",
  flags: [...[...KINDS.keys()].map((name) => ({ name })), { name: "l" }],
  summary: "Removes watches on a path: of children (-c), data (-d), persistent (-p), recursive (-r), any (-a).",
  operandsMin: 1,
  pathOperand: 0,
  run(invocation) {
    const { connection, flags } = invocation;
    const path = checkedPath(operand(invocation, 0));
    const chosen = [...KINDS].find(([name]) => flags.has(name));
    connection.watches.remove(path, chosen?.[1] ?? KINDS.get("a") ?? []);
    return { path };
  },
};
