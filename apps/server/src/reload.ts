import { isDeepStrictEqual } from "node:util";
import type { ServerLog, ServerOptions, ZooidServer } from "@zooid/server";
import type { Command, LogLevel, ServeCommand } from "./command-line.ts";
import { explain } from "./exit-status.ts";

/** Settings that a reload applies; a change of any other takes effect at the next start. */
const RELOADED: ReadonlySet<keyof ServerOptions> = new Set(["fourLetterWords"]);

/**
 * Reads the configuration again: log level, four-letter words and certificates take effect at once. A
 * configuration with a mistake changes nothing.
 *
 * @param read parses the command line and its file again; throws ConfigError
 * @param started what is in force
 * @returns what is in force now
 */
export function reload(
  server: Pick<ZooidServer, "reload">,
  read: () => Command,
  started: ServeCommand,
  log: ServerLog & { level: LogLevel },
): ServeCommand {
  let command: Command;
  try {
    command = read();
  } catch (error) {
    log.error(`the configuration is not reloaded: ${explain(error)}`);
    return started;
  }
  if (command.kind !== "serve") return started;
  const { options, logLevel, auditFile } = command;
  log.level = logLevel;
  const { fourLetterWords = "" } = options;
  server.reload({ fourLetterWords });
  const waiting = changedOptions(started.options, options).filter((name) => !RELOADED.has(name));
  const rest = [...waiting, ...(auditFile === started.auditFile ? [] : ["audit log"])];
  log.info(
    `reloaded log level, four-letter words and certificates${
      rest.length === 0 ? "" : `; changes of ${rest.join(", ")} take effect at the next start`
    }`,
  );
  return { ...started, logLevel, options: { ...started.options, fourLetterWords } };
}

function changedOptions(before: ServerOptions, after: ServerOptions): readonly (keyof ServerOptions)[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as ReadonlySet<keyof ServerOptions>;
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}
