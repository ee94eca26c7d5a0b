import { usageError } from "../../cli-error.ts";
import { type Command, operand } from "../../command.ts";
import { FLAG_NODE_AUTH, FLAG_RATE } from "../../migrate/apache-clients.ts";
import { ADMIN_PATTERN, runCheck } from "../../migrate/check/run-check.ts";

/** `migrate check`: looks at an Apache ensemble that is to be moved to Zooid. */
export const migrate: Command = {
  name: "migrate",
  synopsis: "check host:port[,host:port ...] [--sids n,n ...] [--admin url] [--auth credentials] [--rate n]",
  flags: [
    {
      name: "admin",
      takesValue: true,
      isOwn: true,
      meaning: `Where Apache's admin servers are; * stands for each server's host. Given once for each other port. Default ${ADMIN_PATTERN}`,
    },
    { name: "sids", takesValue: true, isOwn: true, meaning: "Numbers that the new servers are to have" },
    FLAG_NODE_AUTH,
    FLAG_RATE,
  ],
  summary:
    "Looks at an Apache ensemble that is to be moved to Zooid, and names what stands in the way or has to be prepared. " +
    "Reads only.",
  operandsMin: 2,
  operandsMax: 2,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (verb !== "check") throw usageError(`migrate takes check, found ${JSON.stringify(verb)}`);
    return await runCheck(invocation);
  },
};
