import { expect, test } from "vitest";
import { Output } from "./output.ts";

/** The output of each method, by the form of the output. */
const ROWS: readonly (readonly [
  name: string,
  write: (output: Output) => void,
  text: readonly string[],
  json: readonly string[],
])[] = [
  ["text", (to) => to.text("a"), ["out a"], []],
  ["a line", (to) => to.line("a"), ["out a\n"], []],
  ["lines", (to) => to.lines(["a", "b"]), ["out a\nb\n"], []],
  ["no lines", (to) => to.lines([]), [], []],
  ["a note", (to) => to.note("a"), ["err a\n"], []],
  ["progress", (to) => to.progress("a"), ["err a\n"], ["err a\n"]],
  ["a result", (to) => to.json({ a: 1 }), [], ['out {"a":1}\n']],
  ["an event", (to) => to.eventJson({ a: 1 }), [], ['err {"a":1}\n']],
];

test.each(ROWS)("%s is written to one stream, in one form or in both", (_name, write, text, json) => {
  for (const [format, expected] of [
    ["text", text],
    ["json", json],
  ] as const) {
    const written: string[] = [];
    write(
      new Output({
        format,
        stdout: (each) => void written.push(`out ${each}`),
        stderr: (each) => void written.push(`err ${each}`),
      }),
    );
    expect([format, written]).toEqual([format, expected]);
  }
});
