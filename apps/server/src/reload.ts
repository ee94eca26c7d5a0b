import { isDeepStrictEqual } from "node:util";
import type { EnsembleOptions, ServerLog, ServerOptions, ZooidServer } from "@zooid/server";
import type { Command, LogLevel, ServeCommand } from "./command-line.ts";
import { explain } from "./exit-status.ts";

/** Settings that a reload applies; a change of any other takes effect at the next start. */
const RELOADED: ReadonlySet<string> = new Set<keyof ServerOptions>(["fourLetterWords"]);
/** The settings between servers. */
const RELOADED_OF_PEERS: ReadonlySet<string> = new Set<keyof EnsembleOptions>([
  ...(["peerSecretFile", "peerSecretMode", "peerTls", "peerStores"] as const),
  ...(["portUnification", "dialsTls", "allowUnauthenticatedPeers"] as const),
]);
/** Settings that changes of the ensemble's configuration write into the files. */
const MOVED: ReadonlySet<string> = new Set<keyof ServerOptions>(["port", "address"]);
const MOVED_OF_PEERS: ReadonlySet<string> = new Set<keyof EnsembleOptions>(["servers", "version", "isObserver"]);

/**
 * Reads the configuration again: log level, four-letter words, certificates, and the secrets and modes of links between servers
 * take effect at once. A configuration with a mistake changes nothing, and neither does one that would cut servers off.
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
  const { fourLetterWords = "", ensemble } = options;
  const isMember = ensemble !== undefined && started.options.ensemble !== undefined;
  const { changes, problems } = server.reload({ fourLetterWords, ...(isMember ? { ensemble } : {}) });
  if (problems.length > 0) {
    log.error(`the configuration is not reloaded: ${problems.join("; ")}`);
    return started;
  }
  log.level = logLevel;
  const waiting = waitingOptions(started.options, options);
  const rest = [...waiting, ...(auditFile === started.auditFile ? [] : ["audit log"])];
  const changed = changes.length === 0 ? "" : `; for new links between servers: ${changes.join(", ")}`;
  const restart = rest.length === 0 ? "" : `; changes of ${rest.join(", ")} take effect at the next start`;
  log.info(`reloaded log level, four-letter words and certificates${changed}${restart}`);
  return { ...started, logLevel, options: { ...started.options, fourLetterWords } };
}

/** The changed settings that wait for the next start. */
function waitingOptions(before: ServerOptions, after: ServerOptions): readonly string[] {
  const isListKept = after.reconfigEnabled === true;
  const waiting = changedKeys(before, after).filter(
    (name) => name !== "ensemble" && !RELOADED.has(name) && !(isListKept && MOVED.has(name)),
  );
  if (before.ensemble === undefined || after.ensemble === undefined) {
    return isDeepStrictEqual(before.ensemble, after.ensemble) ? waiting : [...waiting, "ensemble"];
  }
  const ofPeers = changedKeys(before.ensemble, after.ensemble).filter(
    (name) => !RELOADED_OF_PEERS.has(name) && !(isListKept && MOVED_OF_PEERS.has(name)),
  );
  return [...waiting, ...ofPeers];
}

function changedKeys(before: object, after: object): readonly string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => !isDeepStrictEqual(old.get(name), now.get(name)),
  );
}
