import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "@zooid/embedded-server";
import { findVariable } from "./variable-names.ts";
import { isSecretFile } from "./variables.ts";

/** A secret is a line or two; a larger file is another one than was meant. */
const SECRET_BYTES_MAX = 64 * 1024;
const SUFFIX = "_FILE";

export interface ReadVariables {
  readonly variables: ReadonlyMap<string, string>;
  /** The file of each variable whose value came from one. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Takes the value of a variable from the file that `<name>_FILE` names, without its last line
 * break.
 *
 * @throws ConfigError with every file that cannot be read
 */
export function readSecretFiles(environment: Readonly<Record<string, string | undefined>>): ReadVariables {
  const variables = new Map<string, string>();
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const target = name.slice(0, -SUFFIX.length);
    if (value === "" || !isSecretFile(name) || findVariable(target) === undefined) {
      variables.set(name, value);
    } else if ((environment[target] ?? "") !== "") problems.push(`${target} and ${name} exclude each other`);
    else {
      const secret = readSecret(value);
      if (secret instanceof Error) problems.push(`${name} names a file that cannot be read: ${secret.message}`);
      else {
        variables.set(target, secret);
        files.set(target, value);
      }
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { variables, files };
}

function readSecret(file: string): string | Error {
  try {
    const { size } = statSync(file);
    if (size > SECRET_BYTES_MAX)
      return new RangeError(`${file} has ${size} bytes, at most ${SECRET_BYTES_MAX} are read`);
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
