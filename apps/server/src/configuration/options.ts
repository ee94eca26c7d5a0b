import { parseArgs } from "node:util";
import { ConfigError } from "@zooid/embedded-server";
import { distance } from "fastest-levenshtein";

interface OptionRule {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly short?: string;
}
/** The options of a command, by their names. */
export type OptionRules = Readonly<Record<string, OptionRule>>;

type Value<R extends OptionRule> = R["type"] extends "boolean"
  ? boolean
  : R["multiple"] extends true
    ? readonly string[]
    : string;
export type OptionValues<R extends OptionRules> = { readonly [Name in keyof R]?: Value<R[Name]> | undefined };

/**
 * Reads options; throws ConfigError with one line for each that is wrong, rather than the whole
 * usage.
 *
 * @param repeats what happens to an option that is given twice with different values: of a server
 *   that serves the last one wins, since start scripts have options of their own
 */
export function parseOptions<R extends OptionRules>(
  argv: readonly string[],
  rules: R,
  repeats: "refused" | "last wins" = "refused",
): { readonly values: OptionValues<R>; readonly positionals: readonly string[] } {
  const options = Object.fromEntries(Object.entries(rules));
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options,
  });
  const problems: string[] = [];
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const option = options[name];
    if (option === undefined) problems.push(`unknown option ${rawName}${adviceFor(name, Object.keys(rules))}`);
    else if (option.type === "boolean" && value !== undefined) problems.push(`${rawName} takes no value`);
    else if (option.type === "string" && (value === undefined || (value.startsWith("-") && !token.inlineValue)))
      problems.push(`${rawName} takes a value`);
    else if (repeats === "refused" && option.multiple !== true && given.has(name) && given.get(name) !== value)
      problems.push(`${rawName} is given twice: ${given.get(name)} and ${value}`);
    else given.set(name, value);
  }
  if (problems.length > 0) throw new ConfigError([...problems, "zooid-server --help lists all options"]);
  return { values: values as OptionValues<R>, positionals };
}

/** The option that was probably meant. */
function adviceFor(name: string, known: readonly string[]): string {
  const steps = (other: string): number => (other.startsWith(name) ? 0 : distance(name.toLowerCase(), other));
  const nearest = known.reduce((best, each) => (steps(each) < steps(best) ? each : best));
  return steps(nearest) <= name.length / 2 ? `; the nearest is --${nearest}` : "";
}
