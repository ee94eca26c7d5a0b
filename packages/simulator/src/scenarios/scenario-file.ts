import type { SourceEdit, SourceMutation } from "../mutations/mutate-source.ts";
import { MUTATIONS, MUTATIONS_OF_SCENARIOS } from "../mutations/mutations.ts";

/** One command and its transcript. */
export interface ScenarioStep {
  /** Blank lines and comments before the command. */
  readonly lead: readonly string[];
  readonly command: string;
  readonly transcript: readonly string[];
  readonly lineNumber: number;
}

/**
 * A scenario as it is written down:
 *
 * ```
 * # A sentence on what it shows.
 * # without a leader that waits: rule ack-behind-sync  a mutation of the marked statement that this scenario must not survive
 * #   - code in that statement                         the whole statement where this is left out
 * #   + its replacement, with $& for the code itself
 * # without ack-before-sync                            one of the simulator's named mutations
 *
 * servers 3
 * elect
 *   s3 leads epoch 1; s1, s2 follow                   what follows from a command is indented
 * ```
 */
export interface ScenarioFile {
  readonly steps: readonly ScenarioStep[];
  readonly mutations: readonly SourceMutation[];
  /** The lines behind the last command. */
  readonly end: readonly string[];
}

export function parseScenario(text: string): ScenarioFile {
  const steps: ScenarioStep[] = [];
  let lead: string[] = [];
  let open: { transcript: string[] } | undefined;
  for (const [i, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (line.startsWith("  ")) {
      if (open === undefined) throw new Error(`line ${i + 1} belongs to no command: ${line}`);
      open.transcript.push(line);
    } else if (line.trim() === "" || line.startsWith("#")) {
      open = undefined;
      lead.push(line);
    } else {
      const step = { lead, command: line.trim(), transcript: [], lineNumber: i + 1 };
      steps.push(step);
      open = step;
      lead = [];
    }
  }
  return { steps, mutations: parseMutations(text), end: lead };
}

/** @param transcripts what followed, one for each step */
export function formatScenario({ steps, end }: ScenarioFile, transcripts: readonly (readonly string[])[]): string {
  const lines: string[] = [];
  for (const [i, { lead, command }] of steps.entries()) lines.push(...lead, command, ...(transcripts[i] ?? []));
  return `${[...lines, ...end].join("\n")}\n`;
}

function parseMutations(text: string): readonly SourceMutation[] {
  const mutations: { readonly name: string; readonly edits: SourceEdit[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("# without ")) mutations.push(parseMutation(line));
    const [, sign, code] = /^# {3}([-+]) ?(.*)$/.exec(line) ?? [];
    if (sign === undefined || code === undefined) continue;
    const edits = mutations.at(-1)?.edits;
    const edit = edits?.pop();
    if (edits === undefined || edit === undefined) throw new Error(`an edit without a mutation: ${line}`);
    if (sign === "-") edits.push({ ...edit, found: joined(edit.found, code) });
    else edits.push({ ...edit, replacement: joined(edit.replacement, code) });
  }
  return mutations;
}

function parseMutation(line: string): { readonly name: string; readonly edits: SourceEdit[] } {
  const [, name, marker] = /^# without (.+): rule ([a-z0-9-]+)$/.exec(line) ?? [];
  if (name !== undefined && marker !== undefined) return { name, edits: [{ marker, replacement: "" }] };
  const [, known] = /^# without ([\w-]+)$/.exec(line) ?? [];
  const mutation = [...MUTATIONS, ...MUTATIONS_OF_SCENARIOS].find((each) => each.name === known);
  if (mutation !== undefined) return { name: mutation.name, edits: [...mutation.edits] };
  throw new Error(
    `expected "# without NAME: rule MARKER", or "# without" and the name of one of the simulator's mutations, found: ${line}`,
  );
}

function joined(before: string | undefined, line: string): string {
  return before === undefined || before === "" ? line : `${before}\n${line}`;
}
