/**
 * Checks of options objects at run time, for callers without a type checker: unknown names, and
 * values of wrong types. An error names the expected, the found, and the nearest known name. A
 * check of valid options allocates nothing.
 */

import { found } from "./found.ts";
import { nearestName } from "./nearest-name.ts";
import { misfit, type Rule } from "./rules.ts";

/** A rule for each option of `T`; undefined is always accepted. */
export type Shape<T> = { readonly [K in T extends unknown ? keyof T : never]-?: Rule };

/** The shape without inherited names, which are no options. */
export function shape<T>(ofOptions: Shape<T>): Shape<T> {
  return Object.assign(Object.create(null), ofOptions) as Shape<T>;
}

/** Whether options have known names and values of the right types. Undefined is no options. */
export function fits<T>(options: unknown, expected: Shape<T>): boolean {
  if (options === undefined) return true;
  if (typeof options !== "object" || options === null || Array.isArray(options)) return false;
  const ruleOf = expected as Readonly<Record<string, Rule | undefined>>;
  for (const name in options) {
    const rule = ruleOf[name];
    if (rule === undefined) return false;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && !rule.accepts(value)) return false;
  }
  return true;
}

/** Every reason why options do not fit. */
export function misfits<T>(options: unknown, expected: Shape<T>): readonly string[] {
  if (options === undefined) return [];
  if (typeof options !== "object" || options === null || Array.isArray(options))
    return [`the options are an object, found ${found(options)}`];
  const ruleOf = expected as Readonly<Record<string, Rule | undefined>>;
  const problems: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const rule = ruleOf[name];
    if (rule === undefined) problems.push(unknownName(name, ruleOf));
    else if (value !== undefined && !rule.accepts(value)) problems.push(misfit(name, value, rule));
  }
  return problems;
}

function unknownName(name: string, expected: Readonly<Record<string, Rule | undefined>>): string {
  const known = Object.keys(expected);
  const nearest = nearestName(name, known) ?? optionWithWord(name, expected);
  const hint = nearest === undefined ? `known are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return `there is no option ${JSON.stringify(name)}; ${hint}`;
}

/** `{ ephemeral: true }` is `{ mode: "ephemeral" }`. */
function optionWithWord(name: string, expected: Readonly<Record<string, Rule | undefined>>): string | undefined {
  for (const [option, rule] of Object.entries(expected)) {
    const word = nearestName(name, rule?.words ?? []);
    if (word !== undefined) return `${option}: ${JSON.stringify(word)}`;
  }
  return undefined;
}
