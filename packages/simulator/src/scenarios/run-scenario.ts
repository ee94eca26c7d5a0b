import { formatScenario, parseScenario, type ScenarioFile } from "./scenario-file.ts";
import { ScenarioRun } from "./scenario-run.ts";

/** A scenario that failed, with the line at which it did. */
export class ScenarioFailure extends Error {
  override readonly name = "ScenarioFailure";
}

/**
 * Performs a scenario and records what follows from each command. The invariants are asserted after
 * every step of every server, and the scenario's expectations where they stand.
 *
 * A scenario that begins with `for n 0..5` is performed for each value, which replaces `$n` in its
 * commands; where the transcripts differ, they name the values.
 *
 * @returns the file with its transcripts as they are now
 */
export function runScenario(text: string): string {
  const file = parseScenario(text);
  const loop = /^for (\w+) (\d+)\.\.(\d+)(?: by (\d+))?$/.exec(file.steps[0]?.command ?? "");
  if (loop === null) return formatScenario(file, perform(file, (command) => command).map(indent));
  const [, name, from, to, step = "1"] = loop;
  const values: number[] = [];
  for (let value = Number(from); value <= Number(to); value += Number(step)) values.push(value);
  const runs = values.map((value) =>
    perform(file, (command) => command.replaceAll(`$${name}`, String(value)), `${name} = ${value}`),
  );
  const transcripts = file.steps.map((_, i) =>
    merge(
      name ?? "",
      values,
      runs.map((run) => run[i] ?? []),
    ),
  );
  return formatScenario(file, transcripts);
}

function perform({ steps }: ScenarioFile, put: (command: string) => string, where = ""): readonly string[][] {
  const run = new ScenarioRun();
  return steps.map(({ command, lineNumber }) => {
    if (command.startsWith("for ")) return [];
    try {
      return [...run.perform(put(command))];
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      const place = where === "" ? `line ${lineNumber}` : `line ${lineNumber}, ${where}`;
      throw new ScenarioFailure(`${place}, "${put(command)}": ${what}`, { cause: error });
    }
  });
}

/** The transcripts of several runs: one, where they are the same. */
function merge(name: string, values: readonly number[], runs: readonly (readonly string[])[]): readonly string[] {
  const groups = new Map<string, { readonly lines: readonly string[]; readonly values: number[] }>();
  for (const [i, lines] of runs.entries()) {
    const group = groups.get(lines.join("\n")) ?? { lines, values: [] };
    groups.set(lines.join("\n"), group);
    group.values.push(values[i] ?? 0);
  }
  if (groups.size === 1) return indent(runs[0] ?? []);
  return [...groups.values()].flatMap((group) => [
    `  ${name} = ${ranges(group.values)}:`,
    ...indent(group.lines.length === 0 ? ["nothing"] : group.lines).map((line) => `  ${line}`),
  ]);
}

/** `0..3, 5`. */
function ranges(values: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length; ) {
    let end = i;
    while (values[end + 1] === (values[end] ?? 0) + 1) end++;
    parts.push(end === i ? `${values[i]}` : `${values[i]}..${values[end]}`);
    i = end + 1;
  }
  return parts.join(", ");
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
