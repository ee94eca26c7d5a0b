import { ADMIN_FLAGS, demandAdminWaiting } from "../../admin-port.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, operand, timeoutMs } from "../../command.ts";

/** `leader transfer [N]`, asked of the leader. */
export const leader: Command = {
  name: "leader",
  synopsis: "transfer [server] [--dry-run] [--wait] [--timeout ms] [--admin url] [--auth credentials]",
  flags: [
    ...ADMIN_FLAGS,
    { name: "dry-run", isOwn: true, meaning: "Checks whether the leadership can move only" },
    { name: "wait", isOwn: true, meaning: "Waits for a server that does not follow yet or catches up" },
    FLAG_TIMEOUT,
  ],
  summary:
    "Hands the leadership over to a server, by the leader's admin port; without a number to the one that suits best.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (verb !== "transfer") throw usageError(`leader takes transfer, found ${JSON.stringify(verb)}`);
    const to = invocation.operands[1];
    if (to !== undefined && !/^\d{1,3}$/.test(to)) {
      throw usageError(`a server is named by its number, as in server.N, found ${JSON.stringify(to)}`);
    }
    if (timeoutMs(invocation.flags) !== undefined && !invocation.flags.has("wait")) {
      throw usageError("--timeout is for --wait: a transfer without it does not wait");
    }
    const isDryRun = invocation.flags.has("dry-run");
    const query = new URLSearchParams({ ...(to === undefined ? {} : { to }), ...(isDryRun ? { dryRun: "true" } : {}) });
    const fields = await demandAdminWaiting(invocation, `transfer_leadership?${query}`);
    if (isDryRun) {
      invocation.output.line(`${to === undefined ? "another server" : `server ${to}`} can lead`);
      invocation.output.line("nothing is changed: --dry-run");
      return { successor: fields["successor_id"] ?? null, dryRun: true };
    }
    invocation.output.line(`server ${fields["leader_id"]} leads`);
    return { leader: fields["leader_id"] ?? null };
  },
};
