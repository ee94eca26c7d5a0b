import { bareKey, isGuardingKey, isKnownKey, mayShowValue } from "./keys/known-keys.ts";
import { WHAT_GUARDS_DECIDE } from "./misspelt-keys.ts";
import { type Property, parseProperties } from "./properties.ts";

/**
 * Lines that Java's syntax reads as something else than they look like, so that a setting is lost
 * in silence:
 *
 * ```
 * dataLogDir=/log\                      a backslash continues the line:
 * server.1=zk1:2888:3888                this one is part of the path
 * dataDir=/data # on the fast disk      a comment is a line of its own: this is part of the path
 * sessionRequire ClientSASLAuth=true    a blank ends the key
 * ```
 *
 * @param placeOf where a line stands, for messages
 */
export function misreadLines(text: string, placeOf: (line: number) => string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  return parseProperties(text).flatMap((property) => [
    ...swallowedLines(property, lines, placeOf),
    ...commentBehind(property, placeOf),
    ...blankInKey(property, placeOf),
  ]);
}

/** The key that a line, or the rest of one, begins with. */
const HEAD = /^[ \t\f]*([\w.-]+)[ \t]*[=:]/;

function swallowedLines(
  { key, line, lastLine }: Property,
  lines: readonly string[],
  placeOf: (line: number) => string,
): readonly string[] {
  return lines.slice(line, lastLine).flatMap((text, i) => {
    const head = HEAD.exec(text)?.[1];
    if (head === undefined || !isKnownKey(bareKey(head))) return [];
    return [
      `${head} (${placeOf(line + 1 + i)}) is part of the value of ${key} (${placeOf(line)}), whose line ends in a backslash: remove that, or write it twice`,
    ];
  });
}

/** Values of secrets may have any sign, and are not shown. */
function commentBehind({ key, value, line }: Property, placeOf: (line: number) => string): readonly string[] {
  const bare = bareKey(key);
  if (!/\s#/.test(value) || !isGuardingKey(bare) || !mayShowValue(bare)) return [];
  return [
    `${key} (${placeOf(line)}) has a comment behind its value, and a comment is a line of its own: found "${value}"`,
  ];
}

/** Lines that begin with a sign, such as `;` or `//`, are comments for those who write them. */
function blankInKey({ key, value, line }: Property, placeOf: (line: number) => string): readonly string[] {
  const head = HEAD.exec(value)?.[1];
  if (head === undefined || !/^\w/.test(key) || isKnownKey(bareKey(key))) return [];
  const meant = [`${key}${head}`, head].find((each) => isGuardingKey(bareKey(each)));
  if (meant === undefined) return [];
  return [
    `${key} ${head} (${placeOf(line)}) is no key, since a blank ends one; ${meant} is, and ${WHAT_GUARDS_DECIDE}`,
  ];
}
