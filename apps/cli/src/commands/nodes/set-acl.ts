import { isZkError } from "@zooid/client";
import { type Command, clientFor, expectedVersion, FLAG_STAT, FLAG_VERSION, operand } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import { clientText } from "../../explain-error.ts";
import { visitDepthFirst } from "../../subtree.ts";
import { parseAcl, requireAcl } from "../../texts/acl-text.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";
import { checkedPath } from "../../texts/znode-path.ts";

export const setAcl: Command = {
  name: "setAcl",
  synopsis: "[-s] [-v version] [-R] path acl",
  flags: [FLAG_STAT, FLAG_VERSION, { name: "R" }],
  summary: "Sets the access list of a node, or of its descendants too (-R).",
  operandsMin: 2,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, shell, signal } = invocation;
    const path = operand(invocation, 0);
    const parsed = parseAcl(operand(invocation, 1));
    const { acl, warnings } = parsed;
    for (const warning of warnings) output.note(warning);
    const version = expectedVersion(flags) ?? -1;
    checkedPath(path);
    requireAcl(parsed, output.format);
    const client = await clientFor(invocation, path);
    if (!flags.has("R")) {
      const stat = await client.setAcl(path, acl, { version, signal });
      if (flags.has("s")) output.lines(statLines(stat));
      return { path, stat: statJson(stat) };
    }
    const changed: string[] = [];
    const refused: { readonly path: string; readonly code: string }[] = [];
    await visitDepthFirst(client, path, {
      signal,
      visit: async (found) => {
        try {
          await client.setAcl(found, acl, { version, signal });
          changed.push(found);
        } catch (error) {
          if (!isZkError(error) || error.outcome !== "rejected") throw error;
          refused.push({ path: found, code: error.code });
          output.note(clientText(error.code, error.path));
        }
      },
    });
    if (refused.length > 0) shell.endsWith(ExitStatus.FAILED);
    return { path, changed: changed.length, refused };
  },
};
