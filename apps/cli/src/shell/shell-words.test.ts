import { expect, test } from "vitest";
import { splitWords } from "./shell-words.ts";

test.each([
  ["blanks of every kind, and how many does not matter", "ls  -s\t/a \v/b ", ["ls", "-s", "/a", "/b"]],
  ["double quotes", 'set /a "two words"', ["set", "/a", "two words"]],
  ["single quotes, around the others", `set /a 'a "b" c'`, ["set", "/a", 'a "b" c']],
  ["nothing between quotes, which is a word", 'set /a ""', ["set", "/a", ""]],
  ["quotes inside a word, which are ordinary", 'set /a un"quoted"mid', ["set", "/a", 'un"quoted"mid']],
  ["a word right behind a closing quote", 'set /a "a"b', ["set", "/a", "a", "b"]],
  ["a quote that is never closed, which is skipped", 'set /a "not closed', ["set", "/a", "not", "closed"]],
  ["a lone quote", '"', []],
  ["a no-break space, which is no blank in Java", "get /a\u00a0b", ["get", "/a\u00a0b"]],
  ["backslashes, which mean nothing", "get /a\\ b", ["get", "/a\\", "b"]],
  ["only blanks", "  ", []],
])("%s", (_, line, words) => {
  expect(splitWords(line)).toEqual(words);
});
