import { type Command, clientFor, operand } from "../../command.ts";
import { dataText } from "../../texts/data-text.ts";
import { formatQuota, limitsPath, parseQuota, statsPath } from "../../texts/quota-record.ts";
import { checkedPath } from "../../texts/znode-path.ts";

export const listquota: Command = {
  name: "listquota",
  synopsis: "path",
  flags: [],
  summary: "Prints a path's quota and its usage.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { output, signal } = invocation;
    const path = operand(invocation, 0);
    const limits = limitsPath(path);
    output.note(`absolute path is ${limits}`);
    const client = await clientFor(invocation, checkedPath(limits));
    const found = await client.getOrNull(limits, { signal });
    if (found === null) {
      output.note(`quota for ${path} does not exist.`);
      return { path, quota: null };
    }
    const quota = parseQuota(dataText(found.data), limits);
    output.line(`Output quota for ${path} ${formatQuota(quota)}`);
    const stats = await client.getOrNull(statsPath(path), { signal });
    if (stats === null) return { path, quota: { ...quota } };
    const used = parseQuota(dataText(stats.data), statsPath(path));
    output.line(`Output stat for ${path} ${formatQuota(used)}`);
    return { path, quota: { ...quota }, used: { ...used } };
  },
};
