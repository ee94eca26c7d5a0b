import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The configuration that an operator gives a server: files, flags of the command line, variables of
 * a container. `{dir}` in a text is the folder of the case.
 */
export interface ConfigurationCase {
  readonly seed: number;
  /** Texts by their names; `zoo.cfg` is one of them. */
  readonly files: Readonly<Record<string, string>>;
  /** Properties of Java's command line, `NAME=VALUE`, without -D. */
  readonly flags: readonly string[];
  /** Variables of the official image, of which its script makes the files above. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Writes the files of a case into a folder. */
export function writeCase({ files, flags }: ConfigurationCase, folder: string): void {
  mkdirSync(join(folder, "data"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), inFolder(text, folder));
  if (flags.length > 0) writeFileSync(join(folder, "flags"), `${flags.join("\n")}\n`);
}

export function inFolder(text: string, folder: string): string {
  return text.replaceAll("{dir}", folder);
}
