/**
 * Data directories as released versions left them, one for each feature level, in
 * `released-data/level-N`: the files as sparse texts, and what they hold as JSON.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Client } from "@zooid/client";
import { sparseBytes, sparseText } from "./sparse-text.ts";

const FOLDER = join(import.meta.dirname, "released-data");
const CONTENTS = "contents.json";
const EXTENSION = ".txt";
/** Files that SQLite makes again, and those of the running process. */
const IS_LEFT_OUT = /-(?:shm|journal)$|^zooid\.|^reserve/;
/** The nodes that servers make of their own. */
const OWN_TREE = "/zookeeper";

/** A node, by what every version must find. */
export interface HeldNode {
  readonly path: string;
  readonly data: string | null;
  readonly acl: string;
  readonly stat: Readonly<Record<string, string>>;
}

/** The levels that have a directory. */
export function releasedLevels(): readonly number[] {
  const levels = readdirSync(FOLDER).flatMap((name) => /^level-(\d+)$/.exec(name)?.[1] ?? []);
  return levels.map(Number).toSorted((a, b) => a - b);
}

/** Puts the directory of a level into a folder. @returns what it holds */
export function restoreReleased(level: number, dataDir: string): readonly HeldNode[] {
  const from = join(FOLDER, `level-${level}`);
  mkdirSync(dataDir, { recursive: true });
  for (const name of readdirSync(from)) {
    if (!name.endsWith(EXTENSION)) continue;
    writeFileSync(join(dataDir, basename(name, EXTENSION)), sparseBytes(readFileSync(join(from, name), "utf8")));
  }
  return JSON.parse(readFileSync(join(from, CONTENTS), "utf8")) as readonly HeldNode[];
}

/** Keeps a directory that no server has open as that of a level. */
export function keepReleased(level: number, dataDir: string, held: readonly HeldNode[]): void {
  const to = join(FOLDER, `level-${level}`);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(dataDir).filter((each) => !IS_LEFT_OUT.test(each))) {
    writeFileSync(join(to, name + EXTENSION), sparseText(readFileSync(join(dataDir, name))));
  }
  writeFileSync(join(to, CONTENTS), `${JSON.stringify(held, undefined, 2)}\n`);
}

/** Every node but those that servers make, in the order of their paths. */
export async function heldNodes(client: Client, path = "/"): Promise<readonly HeldNode[]> {
  const { names } = await client.children(path);
  const found = path === "/" ? [] : [await heldNode(client, path)];
  for (const name of names.toSorted()) {
    const child = path === "/" ? `/${name}` : `${path}/${name}`;
    if (child !== OWN_TREE) found.push(...(await heldNodes(client, child)));
  }
  return found;
}

async function heldNode(client: Client, path: string): Promise<HeldNode> {
  const { data, stat } = await client.get(path);
  const { acl } = await client.getAcl(path);
  const fields = Object.entries(stat).map(([name, value]) => [name, String(value)]);
  return {
    path,
    data: data === null ? null : Buffer.from(data).toString(),
    acl: JSON.stringify(acl),
    stat: Object.fromEntries(fields) as Readonly<Record<string, string>>,
  };
}
