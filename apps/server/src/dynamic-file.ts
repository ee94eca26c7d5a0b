import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Members, memberLines } from "@zooid/model";
import { GROUP_KEY, SERVER_KEY, WEIGHT_KEY } from "./ensemble-draft.ts";
import { DYNAMIC_FILE } from "./ensemble-keys.ts";
import { parseProperties } from "./properties.ts";

/** A dynamic file's name ends in its version. */
const VERSIONED = /^(.*)\.([0-9a-f]{1,16})$/i;

/**
 * Writes the configuration of an ensemble that changes while it runs beside zoo.cfg, as ZooKeeper's own servers do:
 *
 * 1. `zoo.cfg.dynamic.<version>` gets the lines of the servers, groups and weights.
 * 2. zoo.cfg names it as `dynamicConfigFile` in place of its own lines. What it was at first stays as `zoo.cfg.bak`.
 * 3. The dynamic file that it named before goes.
 *
 * Each file is written aside, synced and renamed: after a crash the old or the new one is there. The server keeps the configuration
 * with its data, so that it needs none of these files to be written.
 */
export class DynamicFile {
  readonly #configFile: string;

  constructor(configFile: string) {
    this.#configFile = configFile;
  }

  /** @throws the system's error when a file cannot be written */
  write(members: Members): void {
    const text = readFileSync(this.#configFile, "utf8");
    const named = namedBy(text);
    const version = members.version.toString(16);
    const file = `${prefixOf(this.#configFile, named)}.${version}`;
    if (named === file && existsSync(file)) return;
    replaceFile(file, `${memberLines(members.servers).join("\n")}\n`);
    const backup = `${this.#configFile}.bak`;
    if (!existsSync(backup)) copyFileSync(this.#configFile, backup);
    replaceFile(this.#configFile, withDynamicFile(text, file));
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

/** The file's text without lines of its own about servers, and with the one that names the dynamic file. */
function withDynamicFile(text: string, file: string): string {
  const lines = text.split(/\r?\n/);
  const dropped = new Set(
    parseProperties(text)
      .filter(({ key }) => key === DYNAMIC_FILE || [SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((each) => each.test(key)))
      .flatMap(({ line, lastLine }) => Array.from({ length: lastLine - line + 1 }, (_, i) => line + i)),
  );
  const kept = lines.filter((_, i) => !dropped.has(i + 1));
  while (kept.at(-1)?.trim() === "") kept.pop();
  return `${[...kept, `${DYNAMIC_FILE}=${file}`].join("\n")}\n`;
}

function replaceFile(file: string, text: string): void {
  const aside = `${file}.tmp`;
  const fd = openSync(aside, "w", 0o644);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(aside, file);
  const directory = openSync(dirname(file), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
