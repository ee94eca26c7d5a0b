import { createHash } from "node:crypto";

const MARK = "# Generated from the container's environment at each start; to keep changes, remove this line. ";
const MARKED = /^(# Generated from the container's environment [^\n]*\. )sha256=([0-9a-f]{64})\n/;

/** The text behind a line that marks it as generated, by its hash. */
export function generatedText(text: string): string {
  return `${MARK}sha256=${hashOf(text)}\n${text}`;
}

/** Whether a generated file is unchanged: neither an operator nor the server has written it. */
export function isAsGenerated(file: string): boolean {
  const [line = "", , hash] = MARKED.exec(file) ?? [];
  return hash !== undefined && hashOf(file.slice(line.length)) === hash;
}

/** Keys whose lines differ, or are in one of the texts alone. */
export function changedKeys(before: string, after: string): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key));
}

function linesOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line): [string, string] => [line.split("=", 1).join(), line]));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
