import { distance } from "fastest-levenshtein";
import { MISSPELT } from "../configuration/config-file.ts";
import { GUARDING_KEYS, KNOWN_KEYS } from "../configuration/keys/known-keys.ts";
import { stepsBetween, WHAT_GUARDS_DECIDE } from "../configuration/misspelt-keys.ts";
import { isGuarding, VARIABLES, type Variable } from "./variables.ts";

/* Names of variables: those that mean something to the image, and those that were probably meant to. */

const CONFLUENT = "ZOOKEEPER_";
/** Names that are meant for this container, known or not. */
const OURS = /^(?:ZOO|ZOOID|ZOOKEEPER)_/i;

/** Confluent's names are those of settings in capitals: `ZOOKEEPER_TICK_TIME` is tickTime. */
const CONFLUENT_KEYS: ReadonlyMap<string, string> = new Map(KNOWN_KEYS.map((key) => [bare(key), key]));

/** @returns undefined for a name that means nothing here */
export function findVariable(name: string): Variable | undefined {
  const known = VARIABLES.get(name);
  if (known !== undefined || !name.startsWith(CONFLUENT)) return known;
  const key = CONFLUENT_KEYS.get(bare(name.slice(CONFLUENT.length)));
  return key === undefined ? undefined : { kind: "setting", key, form: "text" };
}

function bare(name: string): string {
  return name.replace(/[._-]/g, "").toUpperCase();
}

/** Variables that other parts of the start read. */
const JVM_VARIABLES = ["SERVER_JVMFLAGS", "JVMFLAGS"];
/**
 * Letters in which the name of a variable may differ that was meant for this image; of short ones
 * more are by chance.
 */
const STEPS_MAX = 2;
const NAME_CHARS_MIN = 8;
/** The share of a name that may differ for a known one to be meant. */
const UNLIKENESS_MAX = 0.4;

function knownNames(): readonly string[] {
  return [...VARIABLES.keys(), ...JVM_VARIABLES, ...KNOWN_KEYS.map(confluentName)];
}

/** Names of which a misspelling ends the start, each with that of the file that has its value. */
const GUARDING_NAMES: readonly string[] = [
  ...[...VARIABLES].filter(([, variable]) => isGuarding(variable)).map(([name]) => name),
  ...GUARDING_KEYS.map(confluentName),
].flatMap((name) => [name, `${name}_FILE`]);

/**
 * The problem of a name that has no meaning here and is probably a misspelt one that decides about
 * votes, access, addresses or durability: it differs from that in up to two letters, in case or in
 * the image's prefix. The start fails on it, as on such keys of zoo.cfg.
 */
export function misspeltGuard(name: string, value: string): string | undefined {
  const nearest = nearestGuard(name, value);
  if (nearest === undefined) return undefined;
  return `${name} is not a variable of this image; ${nearest} ${WHAT_GUARDS_DECIDE}: correct the name, or remove the variable`;
}

function nearestGuard(name: string, value: string): string | undefined {
  if (!OURS.test(name) && name.length < NAME_CHARS_MIN) return undefined;
  const near = GUARDING_NAMES.map((known) => ({ known, steps: stepsTo(name, known) }));
  const [first] = near.filter(({ steps }) => steps <= STEPS_MAX).toSorted((a, b) => a.steps - b.steps);
  if (first !== undefined) return `${first.known} is, and`;
  if (!OURS.test(name)) return undefined;
  const key = withoutPrefix(name).toLowerCase().replaceAll("_", ".");
  const { guarded } = MISSPELT.find(key, value);
  return guarded === undefined ? undefined : `the setting ${guarded}, which ZOO_CFG_EXTRA takes,`;
}

function stepsTo(name: string, known: string): number {
  const steps = stepsBetween(name, known);
  if (!OURS.test(name) || !OURS.test(known)) return steps;
  return Math.min(steps, stepsBetween(withoutPrefix(name), withoutPrefix(known)));
}

function withoutPrefix(name: string): string {
  return name.replace(OURS, "");
}

/**
 * Whether a name is meant for this image: it begins so, or is one of its names but for two letters,
 * or for case.
 */
export function isNearlyKnown(name: string): boolean {
  if (/^(?:ZOO|ZOOID|ZOOKEEPER)_/.test(name)) return true;
  if (name.length < NAME_CHARS_MIN || JVM_VARIABLES.includes(name)) return false;
  return knownNames().some((known) => distance(name.toUpperCase(), known) <= STEPS_MAX);
}

export function unknownVariable(name: string): string {
  const known = knownNames();
  const steps = (one: string): number => distance(name.toUpperCase(), one);
  const nearest = known.reduce((best, one) => (steps(one) < steps(best) ? one : best));
  const advice = steps(nearest) <= name.length * UNLIKENESS_MAX ? `; the nearest known one is ${nearest}` : "";
  return `${name} is not a variable of this image and has no effect${advice}`;
}

/** As Confluent writes it. */
function confluentName(key: string): string {
  return (
    CONFLUENT +
    key
      .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
      .replace(/[.-]/g, "_")
      .toUpperCase()
  );
}
