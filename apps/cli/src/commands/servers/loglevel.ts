import { ADMIN_FLAGS, askAdmin, demandAdmin } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, operand } from "../../command.ts";

const LEVELS: readonly string[] = ["debug", "info", "warn", "error"];

export const loglevel: Command = {
  name: "loglevel",
  synopsis: "[level] [--admin url] [--auth credentials]",
  flags: ADMIN_FLAGS,
  summary:
    "Prints the level of a server's log, or changes it by its admin port to debug, info, warn or error until the server " +
    "starts again or reads its configuration again.",
  operandsMax: 1,
  kind: "offline",
  async run(invocation) {
    const { operands, output } = invocation;
    if (operands.length === 0) {
      const { fields, error } = await askAdmin(invocation, "log_level", "GET");
      const level = fields["log_level"];
      if (typeof level !== "string") {
        throw new CliError(error ?? "the log of this server has no level that can be changed here", {
          code: "REFUSED",
        });
      }
      output.line(level);
      return { level };
    }
    const level = operand(invocation, 0);
    if (!LEVELS.includes(level)) {
      throw usageError(`loglevel takes ${LEVELS.join(", ")}, found ${JSON.stringify(level)}`);
    }
    const { log_level_before: before = null } = await demandAdmin(invocation, `set_log_level?level=${level}`);
    output.line(before === level ? `the log level is ${level} already` : `the log level is ${level}, was ${before}`);
    return { level, before };
  },
};
