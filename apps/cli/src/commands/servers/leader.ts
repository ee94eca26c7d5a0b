import { ADMIN_FLAGS, demandAdmin } from "../../admin-port.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, operand } from "../../command.ts";

/** `leader transfer [N]`, asked of the leader. */
export const leader: Command = {
  name: "leader",
  synopsis: "transfer [server] [--admin url] [--auth credentials]",
  flags: ADMIN_FLAGS,
  summary:
    "Hands the leadership over to a server, by the leader's admin port; without a number to the one that suits best.",
  operandsMin: 1,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (verb !== "transfer") throw usageError(`leader takes transfer, found ${JSON.stringify(verb)}`);
    const to = invocation.operands[1];
    if (to !== undefined && !/^\d{1,3}$/.test(to)) {
      throw usageError(`a server is named by its number, as in server.N, found ${JSON.stringify(to)}`);
    }
    const fields = await demandAdmin(invocation, `transfer_leadership${to === undefined ? "" : `?to=${to}`}`);
    invocation.output.line(`server ${fields["leader_id"]} leads`);
    return { leader: fields["leader_id"] ?? null };
  },
};
