/** Completion of a line: commands, flags, and paths below a parent that the server lists. */
import { parentPath } from "@zooid/model";
import type { Command } from "../command.ts";
import { inOrder } from "../subtree.ts";
import { splitWords } from "./shell-words.ts";

export interface CompletionSource {
  readonly commands: readonly Command[];
  /** The names below a path; none if the node does not exist, or without a connection. */
  children(path: string): Promise<readonly string[]>;
}

/** Candidates for the word before the cursor, and that word, for `readline`. */
export type Completion = readonly [candidates: string[], word: string];

/** @param line up to the cursor */
export async function completeLine(line: string, { commands, children }: CompletionSource): Promise<Completion> {
  const word = /\S*$/.exec(line)?.[0] ?? "";
  const before = splitWords(line.slice(0, line.length - word.length));
  const [name] = before;
  if (name === undefined)
    return [
      beginningWith(
        commands.map((command) => `${command.name} `),
        word,
      ),
      word,
    ];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return [[], word];
  if (word.startsWith("-")) return [beginningWith(flagsOf(command), word), word];
  if (!word.startsWith("/")) return [[], word];
  return [await pathsFor(word, children), word];
}

function flagsOf({ flags }: Command): readonly string[] {
  return flags.map(({ name, isOwn }) => `${isOwn === true ? "--" : "-"}${name} `);
}

function beginningWith(candidates: readonly string[], word: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(word));
}

async function pathsFor(word: string, children: CompletionSource["children"]): Promise<string[]> {
  const parent = parentPath(word);
  const names = await children(parent);
  return inOrder(
    beginningWith(
      names.map((name) => (parent === "/" ? `/${name}` : `${parent}/${name}`)),
      word,
    ),
  );
}
