import { expect, test } from "vitest";
import { parseProperties } from "./properties-text.ts";
import { guessedFormat, problemsOf, type TextFormat } from "./text-checks.ts";

test.each<[TextFormat, string]>([
  ["json", '{"a": [1, 2, 12345678901234567890]}'],
  ["yaml", "a: 1\nlist:\n  - x\n  - y\n---\nb: 2\n"],
  ["xml", '<?xml version="1.0"?><a b="c">&lt;</a>'],
  ["properties", "# comment\na = 1\nb: two\\\n  lines\n\\u0041=x"],
])("a valid %s has no problems", async (format, text) => {
  expect(await problemsOf(text, format)).toEqual([]);
});

test.each<[TextFormat, string, number | undefined]>([
  ["yaml", "a: 1\nb: [1, 2\n", 3],
  ["xml", "<a>\n<b></a>", 2],
  ["properties", "a=1\na=2", 2],
  ["properties", "a=\\u12", 1],
])("an invalid %s names the line: %j", async (format, text, line) => {
  const problems = await problemsOf(text, format);
  expect(problems[0]?.line).toBe(line);
});

test("an invalid JSON text has a problem", async () => {
  expect(await problemsOf('{"a": 1,}', "json")).toHaveLength(1);
});

test("aliases that would expand to a huge text are parsed as they stand", async () => {
  const lines = Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} [${i === 0 ? "x" : `*a${i - 1}, *a${i - 1}`}]`);
  expect(await problemsOf(lines.join("\n"), "yaml")).toEqual([]);
});

test.each([
  ["/app/config.json", "", "json"],
  ["/app/config.YML", "", "yaml"],
  ["/app/config", " [1]", "json"],
  ["/app/config", "<?xml?>", "xml"],
  ["/app/config", "a=b", undefined],
])("%s with %j is %s", (path, text, expected) => {
  expect(guessedFormat(path, text)).toBe(expected);
});

test("keys and values of properties are unescaped", () => {
  const { properties } = parseProperties("a\\ b = c\\td\n  e:f\ng\n!x\nh=i\\\n  j");
  expect(properties).toEqual([
    { key: "a b", value: "c\td", line: 1 },
    { key: "e", value: "f", line: 2 },
    { key: "g", value: "", line: 3 },
    { key: "h", value: "ij", line: 5 },
  ]);
});
