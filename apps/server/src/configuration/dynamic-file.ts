import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Member, type Members, memberLines, type ServerId } from "@zooid/model";
import { readText } from "./configuration-text.ts";
import { GROUP_KEY, SERVER_KEY, WEIGHT_KEY } from "./ensemble-draft.ts";
import { isAnyHost } from "./key-values.ts";
import { DYNAMIC_FILE } from "./keys/ensemble-keys.ts";
import { parseProperties } from "./properties.ts";
import { replaceFile } from "./replace-file.ts";

const SYSTEM_PREFIX = /^zookeeper\./;
/** Addresses are no secret. */
const LIST_MODE = 0o644;
/** A dynamic file's name ends in its version. */
const VERSIONED = /^(.*)\.([0-9a-f]{1,16})$/i;

/**
 * Writes the configuration of an ensemble that changes while it runs beside zoo.cfg, as ZooKeeper's
 * own servers do:
 *
 * 1. `zoo.cfg.dynamic.<version>` gets the lines of the servers, groups and weights.
 * 2. zoo.cfg names it as `dynamicConfigFile` in place of its own lines, and of all else that the
 *    dynamic file decides: `peerType`, and `clientPort` where this server's line has one. The first
 *    zoo.cfg stays as `zoo.cfg.bak`.
 * 3. The dynamic file that it named before goes.
 *
 * Each file is written aside, synced and renamed: after a crash the old or the new one is there.
 * The server keeps the configuration with its data, so that it needs none of these files to be
 * written. A server that is no member writes none: it could not start from a list without itself.
 */
export class DynamicFile {
  readonly #configFile: string;
  readonly #sid: ServerId | number;

  constructor(configFile: string, sid: ServerId | number) {
    this.#configFile = configFile;
    this.#sid = sid;
  }

  /** @throws the system's error when a file cannot be written */
  write(members: Members): void {
    const own = members.servers.find(({ sid }) => sid === this.#sid);
    if (own === undefined) return;
    const text = readText(this.#configFile);
    const named = namedBy(text);
    const version = members.version.toString(16);
    const file = `${prefixOf(this.#configFile, named)}.${version}`;
    const next = withDynamicFile(text, file, own);
    if (!existsSync(file) || named !== file)
      replaceFile(file, `${memberLines(members.servers).join("\n")}\n`, LIST_MODE);
    if (next === text) return;
    const backup = `${this.#configFile}.bak`;
    // It may have secrets: both are for those who may read it now.
    const mode = statSync(this.#configFile).mode & 0o777;
    if (!existsSync(backup)) replaceFile(backup, text, mode);
    replaceFile(this.#configFile, next, mode);
    if (named !== undefined && named !== file && VERSIONED.test(basename(named))) rmSync(named, { force: true });
  }
}

/** The version in the name of a dynamic file; undefined where it has none. */
export function versionInName(file: string): string | undefined {
  return VERSIONED.exec(basename(file))?.[2];
}

function namedBy(text: string): string | undefined {
  return parseProperties(text).findLast(({ key }) => key === DYNAMIC_FILE)?.value;
}

function prefixOf(configFile: string, named: string | undefined): string {
  if (named === undefined) return `${configFile}.dynamic`;
  return join(dirname(named), VERSIONED.exec(basename(named))?.[1] ?? basename(named));
}

/** The file's text without what the dynamic file decides, and with the line that names it. */
function withDynamicFile(text: string, file: string, own: Member): string {
  const lines = text.split(/\r?\n/);
  const settings = parseProperties(text);
  const isDropped = (key: string): boolean => key === DYNAMIC_FILE || isDecided(key.replace(SYSTEM_PREFIX, ""), own);
  if (settings.at(-1)?.value === file && settings.filter(({ key }) => isDropped(key)).length === 1) return text;
  const dropped = new Set(
    settings
      .filter(({ key }) => isDropped(key))
      .flatMap(({ line, lastLine }) => Array.from({ length: lastLine - line + 1 }, (_, i) => line + i)),
  );
  const kept = lines.filter((_, i) => !dropped.has(i + 1));
  while (kept.at(-1)?.trim() === "") kept.pop();
  return `${[...kept, `${DYNAMIC_FILE}=${file}`].join("\n")}\n`;
}

/** Whether the lines of the servers decide what this setting says. */
function isDecided(key: string, { clientAddress }: Member): boolean {
  switch (key) {
    case "peerType":
      return true;
    case "clientPort":
      return clientAddress !== undefined;
    case "clientPortAddress":
      return clientAddress !== undefined && !isAnyHost(clientAddress.host);
    default:
      return [SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((each) => each.test(key));
  }
}
