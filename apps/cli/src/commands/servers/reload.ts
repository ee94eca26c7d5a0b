import { ADMIN_FLAGS, demandAdmin } from "../../admin-port.ts";
import { CliError } from "../../cli-error.ts";
import type { Command } from "../../command.ts";

const LISTS = ["problems", "changed", "not_applied", "warnings"] as const;

/** A server's configuration is read again, or only compared with what is in force. */
export const reload: Command = {
  name: "reload",
  synopsis: "[--dry-run] [--admin url] [--auth credentials]",
  flags: [...ADMIN_FLAGS, { name: "dry-run", isOwn: true, meaning: "Says what would change, and changes nothing" }],
  summary:
    "Lets a server read its configuration again, by its admin port, and prints what has changed and what waits for its " +
    "next start; with a mistake in it nothing changes.",
  operandsMax: 0,
  kind: "offline",
  async run(invocation) {
    const { flags, output } = invocation;
    const isDryRun = flags.has("dry-run");
    const fields = await demandAdmin(invocation, `reload?dryRun=${isDryRun}`);
    const [problems, changed, notApplied, warnings] = LISTS.map((name) => texts(fields[name]));
    if (problems === undefined || changed === undefined || notApplied === undefined || warnings === undefined) {
      throw new CliError(`the answer has no lists ${LISTS.join(", ")}`, { code: "UNREADABLE_ANSWER" });
    }
    if (problems.length > 0) {
      throw new CliError(`the configuration is not reloaded: ${problems.join("; ")}`, { code: "REFUSED" });
    }
    for (const clause of changed) output.line(clause);
    for (const clause of notApplied) output.line(`not applied: ${clause}`);
    for (const warning of warnings) output.line(`warning: ${warning}`);
    if (changed.length + notApplied.length === 0) output.line("nothing has changed");
    if (isDryRun) output.line("nothing is changed: --dry-run");
    return { changed, notApplied, warnings, dryRun: isDryRun };
  },
};

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
