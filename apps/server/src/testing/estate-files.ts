import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FOLDER = join(import.meta.dirname, "estates");

/**
 * A zoo.cfg of the shape that an image, a chart, a role or a manual writes. Comments in it say what
 * belongs to it.
 */
export interface EstateFile {
  readonly name: string;
  readonly text: string;
  /** `# myid: N` */
  readonly myid: string | undefined;
  /** `# no effect: KEY, KEY`: the keys that a start names as without effect. */
  readonly withoutEffect: readonly string[];
  /** `# file NAME`, with its lines behind it as `# | LINE`. */
  readonly others: ReadonlyMap<string, string>;
}

export function estateFiles(): readonly EstateFile[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => estateFile(file.replace(".cfg", ""), readFileSync(join(FOLDER, file), "utf8")));
}

function estateFile(name: string, text: string): EstateFile {
  const others = new Map<string, string>();
  let other = "";
  for (const line of text.split(/\r?\n/)) {
    const named = /^# file (\S+)$/.exec(line)?.[1];
    if (named !== undefined) other = named;
    else if (line.startsWith("# | ")) others.set(other, `${others.get(other) ?? ""}${line.slice("# | ".length)}\n`);
  }
  return {
    name,
    text,
    others,
    myid: commentOf(text, "myid"),
    withoutEffect: (commentOf(text, "no effect") ?? "").split(", ").filter((key) => key !== ""),
  };
}

function commentOf(text: string, name: string): string | undefined {
  const begin = `# ${name}: `;
  const line = text.split(/\r?\n/).find((each) => each.startsWith(begin));
  return line?.slice(begin.length);
}

/**
 * Writes it and what belongs to it below a directory, which takes the place of `{dir}`; returns the
 * file's path.
 */
export function writeEstate({ name, text, myid, others }: EstateFile, directory: string): string {
  const put = (content: string): string => content.replaceAll("{dir}", directory);
  for (const [other, content] of others) writeFileSync(join(directory, other), put(content));
  const dataDir = /^dataDir ?[=:] ?(.*?)\r?$/m.exec(put(text))?.[1] ?? "";
  mkdirSync(dataDir, { recursive: true });
  if (myid !== undefined) writeFileSync(join(dataDir, "myid"), `${myid}\n`);
  const file = join(directory, `${name}.cfg`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, put(text));
  return file;
}
