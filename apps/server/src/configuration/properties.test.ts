import { ConfigError } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { parseProperties } from "./properties.ts";

function pairs(text: string): string[] {
  return parseProperties(text).map(({ key, value, line }) => `${line}: ${key}=${value}`);
}

test.each([
  ["the three separators", "a=1\nb: 2\nc 3", ["1: a=1", "2: b=2", "3: c=3"]],
  ["blanks around them", "  a  =  1  \n\tb\t:\t2", ["1: a=1", "2: b=2"]],
  ["comments and empty lines, which count", "# no\n\n! no\na=1#yes", ["4: a=1#yes"]],
  ["a value that holds separators", "a=b=c:d", ["1: a=b=c:d"]],
  ["an empty value, and no value", "a=\nb", ["1: a=", "2: b="]],
  ["a line that goes on in the next one", "a=1,\\\n   2,\\\n   3\nb=4", ["1: a=1,2,3", "4: b=4"]],
  ["two backslashes at the end, which are one", "a=x\\\\\nb=1", ["1: a=x\\", "2: b=1"]],
  ["a backslash at the very end", "a=x\\", ["1: a=x"]],
  ["escapes", "a\\ b=\\u0041\\t\\:\\q", ["1: a b=A\t:q"]],
  ["an escaped separator inside a key", "a\\=b=1\nc\\:d=2", ["1: a=b=1", "2: c:d=2"]],
  ["every kind of line end", "a=1\r\nb=2\rc=3", ["1: a=1", "2: b=2", "3: c=3"]],
  ["a byte order mark", "\uFEFFa=1", ["1: a=1"]],
  ["keys that mean something to JavaScript", "__proto__=1\nconstructor=2", ["1: __proto__=1", "2: constructor=2"]],
  ["placeholders, which stay as they are", "a=$HOME/{x}", ["1: a=$HOME/{x}"]],
  ["nothing", "", []],
])("%s", (_, text, expected) => {
  expect(pairs(text)).toEqual(expected);
});

test("an incomplete \\uXXXX is refused, as Java does", () => {
  expect(() => parseProperties("dataDir=C:\\users")).toThrow(
    new ConfigError([
      "malformed escaped unicode characters '\\users': expected four hexadecimal digits behind \\u; a backslash is written twice",
    ]),
  );
});
