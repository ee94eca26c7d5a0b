import type { SourceMutation } from "./mutate-source.ts";
import { MUTATIONS } from "./mutations.ts";

/** One command and what is said to follow from it. */
export interface ScenarioStep {
  /** Blank lines and remarks before the command. */
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
 * # without a rule: packages/zab/src/leader.ts        a mutation of the source that this scenario must not survive
 * #   - the snippet
 * #   + what takes its place
 * # without ack-before-sync                           one of the mutations that the simulation has a name for
 *
 * servers 3
 * elect
 *   s3 leads epoch 1; s1, s2 follow                   what follows from a command is indented
 * ```
 */
export interface ScenarioFile {
  readonly steps: readonly ScenarioStep[];
  readonly mutations: readonly SourceMutation[];
  /** What stands behind the last command. */
  readonly end: readonly string[];
}

export function parseScenario(text: string): ScenarioFile {
  const steps: ScenarioStep[] = [];
  let lead: string[] = [];
  let open: { transcript: string[] } | undefined;
  for (const [i, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (line.startsWith("  ")) {
      if (open === undefined) throw new Error(`line ${i + 1} follows from no command: ${line}`);
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
  const mutations: { name: string; file: string; snippet: string[]; replacement: string[] }[] = [];
  for (const line of text.split("\n")) {
    const [, name, file] = /^# without (.+): (packages\/\S+)$/.exec(line) ?? [];
    if (name !== undefined && file !== undefined) mutations.push({ name, file, snippet: [], replacement: [] });
    const [, known] = /^# without ([\w-]+)$/.exec(line) ?? [];
    if (known !== undefined) mutations.push(knownMutation(known));
    const [, sign, code] = /^# {3}([-+]) ?(.*)$/.exec(line) ?? [];
    if (sign === undefined || code === undefined) continue;
    const mutation = mutations.at(-1);
    if (mutation === undefined) throw new Error(`a snippet of no mutation: ${line}`);
    (sign === "-" ? mutation.snippet : mutation.replacement).push(code.trim());
  }
  return mutations;
}

function knownMutation(name: string): { name: string; file: string; snippet: string[]; replacement: string[] } {
  const mutation = MUTATIONS.find((each) => each.name === name);
  if (mutation === undefined) throw new Error(`no mutation is called ${name}`);
  return { ...mutation, snippet: [...mutation.snippet], replacement: [...mutation.replacement] };
}
