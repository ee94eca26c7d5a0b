import type { ReloadResult, ZooidServer } from "@zooid/server";
import type { Command, ServeCommand } from "./command-line.ts";
import { explain } from "./exit-status.ts";
import type { ProcessLines } from "./log-events.ts";
import type { LogLevel } from "./log-level.ts";

/** Keys whose values a reload applies; a change of any other takes effect at the next start. */
const RELOADED: RegExp =
  /^(?:4lw\.commands\.whitelist|zooid\.logLevel|zooid\.peerSecret(?:File|Mode)|zooid\.peerTls\.(?:key|cert|ca)|ssl\.quorum\..*|sslQuorum|portUnification|zooid\.allowUnauthenticatedPeers)$/;
/** Whether SIGHUP applies a change of this key. */
export function isReloaded(key: string): boolean {
  return RELOADED.test(key);
}

/** Keys that changes of the ensemble's configuration write into the files. */
const MOVED = /^(?:server\.\d+|group\.\d+|weight\.\d+|clientPort|clientPortAddress|peerType|dynamicConfigFile)$/;
/** Keys whose values no log shows. */
const HIDDEN = /password$|superDigest$|superUser|zooid\.console\.(?:viewers|editors|operators)$/i;

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
  log: ProcessLines & { level: LogLevel },
): ServeCommand {
  let command: Command;
  try {
    command = read();
  } catch (error) {
    log.error(`the configuration is not reloaded: ${explain(error)}`, { event: "reload-refused" });
    return started;
  }
  if (command.kind !== "serve") return started;
  const { options, logLevel } = command;
  const { fourLetterWords = "", ensemble } = options;
  const isMember = ensemble !== undefined && started.options.ensemble !== undefined;
  const { changes, certificates, problems } = server.reload({ fourLetterWords, ...(isMember ? { ensemble } : {}) });
  if (problems.length > 0) {
    log.error(`the configuration is not reloaded: ${problems.join("; ")}`, { event: "reload-refused" });
    return started;
  }
  const before = log.level;
  log.level = logLevel;
  const changed = changedSettings(started.values, command.values);
  const applied = changed.filter(({ key }) => RELOADED.test(key));
  const waiting = changed.filter(
    ({ key }) => !RELOADED.test(key) && !(options.reconfigEnabled === true && MOVED.test(key)),
  );
  const sentences = [
    ...(before === logLevel ? [] : [`the log level is ${logLevel}, was ${before}`]),
    // The level in force may be another one: --log-level wins.
    ...applied.filter(({ key }) => key !== "zooid.logLevel").map(({ text }) => text),
    ...(changes.length === 0 ? [] : [`for new links between servers: ${changes.join(", ")}`]),
    ...certificateTexts(certificates),
    ...waiting.map(({ text }) => `${text}, from the next start on`),
  ];
  const text = sentences.length === 0 ? "nothing has changed" : sentences.join("; ");
  log.info(`the configuration is reloaded: ${text}`, { event: "reloaded" });
  const values = new Map(started.values);
  for (const { key } of applied) {
    const value = command.values.get(key);
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  }
  return { ...started, logLevel, values, options: { ...started.options, fourLetterWords } };
}

/** What became of the certificates, with their dates where those are others. */
function certificateTexts(certificates: ReloadResult["certificates"]): readonly string[] {
  if (certificates.length === 0) return [];
  const renewed = certificates.filter(({ notAfter, notAfterBefore }) => notAfter !== notAfterBefore);
  if (renewed.length === 0) return ["certificates are read again"];
  return renewed.map(
    ({ shownTo, notAfter, notAfterBefore }) =>
      `the certificate that ${shownTo} see is valid until ${dateOf(notAfter)}, was ${dateOf(notAfterBefore)}`,
  );
}

function dateOf(seconds: number | undefined): string {
  return seconds === undefined
    ? "none"
    : `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

interface ChangedSetting {
  readonly key: string;
  /** What it is and was, unless that is a secret. */
  readonly text: string;
}

function changedSettings(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly ChangedSetting[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => {
      if (HIDDEN.test(key)) return { key, text: `${key} has another value` };
      const [was, is] = [before.get(key), after.get(key)].map((value) =>
        value === undefined ? "not set" : `"${value}"`,
      );
      return { key, text: `${key} is ${is}, was ${was}` };
    });
}
