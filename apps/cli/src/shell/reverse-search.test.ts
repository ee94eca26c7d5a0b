import { expect, test } from "vitest";
import { CTRL_R, ReverseSearch, type SearchStep } from "./reverse-search.ts";

const NEWEST_FIRST = ["get /b", "ls /", "ls /", "create /b", "get /a"];

function search(keys: string): { readonly text: string; readonly last: SearchStep | undefined } {
  const machine = new ReverseSearch(NEWEST_FIRST);
  let last: SearchStep | undefined;
  for (const key of keys) last = machine.press(key, "");
  return { text: machine.text, last };
}

test.each([
  ["nothing typed finds nothing", "", "(reverse-i-search)`': "],
  ["the newest line with the text", "get", "(reverse-i-search)`get': get /b"],
  ["Ctrl-R goes to an older one", `get${CTRL_R}`, "(reverse-i-search)`get': get /a"],
  ["the same line twice is passed over", `s${CTRL_R}`, "(failed reverse-i-search)`s': ls /"],
  ["a longer text stays at the line that matches it", `/b${CTRL_R}`, "(reverse-i-search)`/b': create /b"],
  ["without a match the last line stays", "getx", "(failed reverse-i-search)`getx': get /b"],
  ["Backspace takes a letter back", "getx\u007f", "(reverse-i-search)`get': get /b"],
  ["and all of them", "g\b", "(reverse-i-search)`': "],
])("%s", (_, keys, text) => {
  expect(search(keys).text).toBe(text);
});

test.each<[string, string, SearchStep]>([
  ["Enter runs the line", "cre\r", { kind: "accept", line: "create /b", keys: "\r" }],
  ["Escape edits it", "cre\u001b", { kind: "accept", line: "create /b", keys: "" }],
  ["another key does, and is pressed", "cre\u0001", { kind: "accept", line: "create /b", keys: "\u0001" }],
  ["Ctrl-G cancels", "cre\u0007", { kind: "cancel" }],
  ["Ctrl-C cancels", "cre\u0003", { kind: "cancel" }],
  ["Enter without a line cancels", "nothing\r", { kind: "cancel" }],
])("%s", (_, keys, step) => {
  expect(search(keys).last).toEqual(step);
});

test("the letters of an arrow key go to the line", () => {
  const machine = new ReverseSearch(NEWEST_FIRST);
  machine.press("l", "");
  expect(machine.press("\u001b", "[D")).toEqual({ kind: "accept", line: "ls /", keys: "\u001b" });
});
