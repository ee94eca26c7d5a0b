import { ADMIN_PATTERN } from "../../admin-patterns.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, operand } from "../../command.ts";
import { FLAG_NODE_AUTH, FLAG_RATE } from "../../migrate/apache-clients.ts";
import { runCheck } from "../../migrate/check/run-check.ts";
import { runCompare } from "../../migrate/compare/run-compare.ts";
import { runStatus } from "../../migrate/status/run-status.ts";

/** The options of each of the command's verbs. */
const OPTIONS = {
  check: ["admin", "sids", "auth", "rate"],
  compare: ["apache", "follower", "zooid", "admin-auth", "limit", "data", "auth", "rate"],
  status: ["follower", "members", "watch"],
} as const;
const VERBS: readonly string[] = Object.keys(OPTIONS);

/** `migrate check`, `compare` and `status`: an Apache ensemble that is moved to Zooid. */
export const migrate: Command = {
  name: "migrate",
  synopsis:
    "check host:port[,host:port ...] [--sids n,n ...] [--admin url] | " +
    "compare --apache host:port[,host:port ...] --follower url|--zooid host:port [--admin-auth credentials] [--limit n] [--data]; " +
    "both [--auth credentials] [--rate n] | " +
    "status --follower url [--members url,url ...] [--watch]",
  flags: [
    {
      name: "admin",
      takesValue: true,
      isOwn: true,
      meaning: `check: where Apache's admin servers are; * stands for each server's host. Given once for each other port. Default ${ADMIN_PATTERN}`,
    },
    { name: "sids", takesValue: true, isOwn: true, meaning: "check: numbers that the new servers are to have" },
    { name: "apache", takesValue: true, isOwn: true, meaning: "compare: Apache's servers, each of which is read" },
    {
      name: "follower",
      takesValue: true,
      isOwn: true,
      meaning: "compare, status: the follower's admin port, as http://host:8080",
    },
    { name: "zooid", takesValue: true, isOwn: true, meaning: "compare: a server of Zooid, by its client port" },
    {
      name: "admin-auth",
      takesValue: true,
      isOwn: true,
      meaning:
        "compare: credentials for the follower's admin port, as 'digest super:password'; default: $ZOOID_ADMIN_AUTH",
    },
    { name: "limit", takesValue: true, isOwn: true, meaning: "compare: differences that are listed; default 100" },
    { name: "data", isOwn: true, meaning: "compare: shows the data that differ, not only lengths and hashes" },
    {
      name: "members",
      takesValue: true,
      isOwn: true,
      meaning: "status: admin ports of the members that stand by, with commas between them",
    },
    { name: "watch", isOwn: true, meaning: "status: prints the report again when it has changed, until Ctrl-C" },
    FLAG_NODE_AUTH,
    FLAG_RATE,
  ],
  summary:
    "check looks at an Apache ensemble that is to be moved to Zooid, and names obstacles and preparations; " +
    "compare reads every node, Stat and access list of Apache's servers and of a server of Zooid, and prints what differs; " +
    "status shows how far a follower and the members that stand by are, and what blocks a take-over. " +
    "All only read.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "offline",
  async run(invocation) {
    const { flags, operands } = invocation;
    const verb = operand(invocation, 0);
    const options: readonly string[] | undefined = OPTIONS[verb as keyof typeof OPTIONS];
    if (options === undefined) throw usageError(`migrate takes ${VERBS.join(", ")}, found ${JSON.stringify(verb)}`);
    for (const { name } of migrate.flags) {
      if (!flags.has(name) || options.includes(name)) continue;
      const takers = Object.entries(OPTIONS).filter(([, names]) => (names as readonly string[]).includes(name));
      throw usageError(`--${name} is for migrate ${takers.map(([taker]) => taker).join(" and ")}`);
    }
    if (verb === "compare") {
      if (operands.length > 1) throw usageError("migrate compare names servers by --apache, --follower and --zooid");
      return await runCompare(invocation);
    }
    if (verb === "status") {
      if (operands.length > 1) throw usageError("migrate status names servers by --follower and --members");
      return await runStatus(invocation);
    }
    if (operands.length < 2)
      throw usageError("migrate check takes the servers of the ensemble, as host:port,host:port");
    return await runCheck(invocation);
  },
};
