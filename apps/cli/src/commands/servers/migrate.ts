import { ADMIN_PATTERN } from "../../admin-patterns.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, operand } from "../../command.ts";
import { FLAG_NODE_AUTH, FLAG_RATE } from "../../migrate/apache-clients.ts";
import { runCheck } from "../../migrate/check/run-check.ts";
import { runCompare } from "../../migrate/compare/run-compare.ts";
import { runReturn } from "../../migrate/return/run-return.ts";
import { runStatus } from "../../migrate/status/run-status.ts";
import { runAbort, runTakeOver } from "../../migrate/take-over/run-take-over.ts";

/** The options of each of the command's verbs. */
const OPTIONS = {
  check: ["admin", "sids", "auth", "rate"],
  compare: ["apache", "follower", "zooid", "admin-auth", "limit", "data", "auth", "rate"],
  status: ["follower", "members", "watch"],
  "take-over": [
    "apache",
    "follower",
    "members",
    "block",
    "fence",
    "release",
    "reconfig",
    "within",
    "plan",
    "yes",
    "admin",
    "admin-auth",
    "auth",
  ],
  abort: ["apache", "follower", "members", "release", "admin", "admin-auth", "auth"],
  return: ["apache", "apache-servers", "members", "without", "within", "plan", "yes", "abort", "admin-auth"],
} as const;
const VERBS: readonly string[] = Object.keys(OPTIONS);

/**
 * `migrate check`, `compare`, `status`, `take-over` and `abort`: moves from Apache to Zooid.
 * `migrate return`: the way back.
 */
export const migrate: Command = {
  name: "migrate",
  synopsis:
    "check host:port[,host:port ...] [--sids n,n ...] [--admin url] | " +
    "compare --apache host:port[,host:port ...] --follower url|--zooid host:port [--admin-auth credentials] [--limit n] [--data]; " +
    "both [--auth credentials] [--rate n] | " +
    "status --follower url [--members url,url ...] [--watch] | " +
    "take-over --apache host:port[,host:port ...] --follower url --members url[,url ...] --block command --fence command " +
    "--release command [--reconfig] [--within ms] [--plan] [--yes] | " +
    "abort --apache host:port[,host:port ...] --follower url --members url[,url ...] --release command; " +
    "both [--admin url] [--admin-auth credentials] [--auth credentials] | " +
    "return --apache directory|--abort --members url[,url ...] --apache-servers host:port[,host:port ...] " +
    "[--without n,n ...] [--within ms] [--plan] [--yes] [--admin-auth credentials]",
  flags: [
    {
      name: "admin",
      takesValue: true,
      isOwn: true,
      meaning: `check, take-over, abort: where Apache's admin servers are; * stands for each server's host. Given once for each other port. Default ${ADMIN_PATTERN}`,
    },
    { name: "sids", takesValue: true, isOwn: true, meaning: "check: numbers that the new servers are to have" },
    {
      name: "apache",
      takesValue: true,
      isOwn: true,
      meaning:
        "compare, take-over, abort: Apache's servers, each of which is asked; return: the directory that gets the export, an empty one or none",
    },
    {
      name: "follower",
      takesValue: true,
      isOwn: true,
      meaning: "compare, status, take-over, abort: the follower's admin port, as http://host:8080",
    },
    { name: "zooid", takesValue: true, isOwn: true, meaning: "compare: a server of Zooid, by its client port" },
    {
      name: "admin-auth",
      takesValue: true,
      isOwn: true,
      meaning:
        "compare, take-over, abort, return: credentials for the admin ports of the follower and the members, as 'digest super:password'; default: $ZOOID_ADMIN_AUTH",
    },
    { name: "limit", takesValue: true, isOwn: true, meaning: "compare: differences that are listed; default 100" },
    { name: "data", isOwn: true, meaning: "compare: shows the data that differ, not only lengths and hashes" },
    {
      name: "members",
      takesValue: true,
      isOwn: true,
      meaning:
        "status, take-over, abort: admin ports of the members that stand by, with commas between them; return: those of all servers of the ensemble",
    },
    { name: "watch", isOwn: true, meaning: "status: prints the report again when it has changed, until Ctrl-C" },
    {
      name: "block",
      takesValue: true,
      isOwn: true,
      meaning:
        "take-over: a shell command that closes the client port of $ZOOID_HOST, and ends its connections; run once for each server of Apache's",
    },
    {
      name: "fence",
      takesValue: true,
      isOwn: true,
      meaning: "take-over: a shell command that stops the Apache server at $ZOOID_HOST, and keeps it stopped",
    },
    {
      name: "release",
      takesValue: true,
      isOwn: true,
      meaning:
        "take-over, abort: a shell command that starts the Apache server at $ZOOID_HOST, and opens its client port",
    },
    {
      name: "reconfig",
      isOwn: true,
      meaning:
        "take-over: leaves the leader alone in Apache's ensemble before --fence runs; needs reconfigEnabled=true",
    },
    {
      name: "within",
      takesValue: true,
      isOwn: true,
      meaning:
        "take-over: milliseconds from the block to the opening, else all is undone; default: half of the shortest session timeout, at most 5000; return: from the closing until the export is complete; default 60000",
    },
    {
      name: "plan",
      isOwn: true,
      meaning: "take-over, return: prints each step and what would run, and changes nothing",
    },
    { name: "yes", isOwn: true, meaning: "take-over, return: asks no question" },
    {
      name: "apache-servers",
      takesValue: true,
      isOwn: true,
      meaning: "return: Apache's servers, by their client ports; none of them may run",
    },
    {
      name: "without",
      takesValue: true,
      isOwn: true,
      meaning: "return: numbers of servers that are stopped for good, and need not say that they have no clients",
    },
    { name: "abort", isOwn: true, meaning: "return: opens the ensemble to its clients again" },
    FLAG_NODE_AUTH,
    FLAG_RATE,
  ],
  summary:
    "check looks at an Apache ensemble that is to be moved to Zooid, and names obstacles and preparations; " +
    "compare reads every node, Stat and access list of Apache's servers and of a server of Zooid, and prints what differs; " +
    "status shows how far a follower and the members that stand by are, and what blocks a take-over; these only read. " +
    "take-over closes and stops Apache, and has the members serve its clients; abort undoes what an interrupted take-over has done. " +
    "return closes a Zooid ensemble to its clients, and exports its state for Apache's servers; return --abort opens it again.",
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
    if (verb === "take-over" || verb === "abort") {
      if (operands.length > 1) throw usageError(`migrate ${verb} names servers by --apache, --follower and --members`);
      return await (verb === "abort" ? runAbort(invocation) : runTakeOver(invocation));
    }
    if (verb === "return") {
      if (operands.length > 1)
        throw usageError(
          "migrate return names servers by --members and --apache-servers, and the directory by --apache",
        );
      return await runReturn(invocation);
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
