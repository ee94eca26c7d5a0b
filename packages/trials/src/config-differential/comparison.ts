import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type ApacheAnswer, apacheOutcome } from "./apache-outcome.ts";
import { factsOf } from "./case-facts.ts";
import type { ConfigurationCase } from "./configuration-case.ts";
import { judge } from "./difference-classes.ts";
import { type Difference, differences } from "./outcome.ts";
import { zooidOutcome } from "./zooid-outcome.ts";

/** A configuration, and what Apache's parser says of it. */
export interface Answered {
  readonly configuration: ConfigurationCase;
  readonly answer: ApacheAnswer;
}

export interface Unexplained {
  readonly configuration: ConfigurationCase;
  readonly difference: Difference;
}

export interface Comparison {
  /** How often each class of differences occurred, by its row of docs/differences.md. */
  readonly classes: ReadonlyMap<string, number>;
  readonly unexplained: readonly Unexplained[];
  readonly refusedByBoth: number;
}

/** Reads each configuration with Zooid's parser, in a folder of its own below `root`. */
export function compare(pairs: readonly Answered[], root: string): Comparison {
  const classes = new Map<string, number>();
  const unexplained: Unexplained[] = [];
  let refusedByBoth = 0;
  for (const { configuration, answer } of pairs) {
    const apache = apacheOutcome(answer);
    const zooid = zooidOutcome(configuration, mkdtempSync(join(root, "zooid-")));
    if (apache.kind === "refuses" && zooid.kind === "refuses") refusedByBoth++;
    const facts = factsOf(configuration);
    for (const judged of differences(apache, zooid).flatMap((each) => judge(each, facts))) {
      if (judged.class === undefined) unexplained.push({ configuration, difference: judged.difference });
      else classes.set(judged.class.row, (classes.get(judged.class.row) ?? 0) + 1);
    }
  }
  return { classes, unexplained, refusedByBoth };
}

export function printUnexplained(unexplained: readonly Unexplained[]): void {
  for (const { configuration, difference } of unexplained) {
    const { seed, files, flags, environment } = configuration;
    console.log(`\nseed ${seed}: ${difference.value}\n    - ${difference.apache}\n    + ${difference.zooid}`);
    for (const [name, text] of Object.entries(files)) console.log(`  ${name}:\n${indented(text)}`);
    if (flags.length > 0) console.log(`  flags: ${flags.join(" ")}`);
    if (environment !== undefined) console.log(`  environment: ${JSON.stringify(environment)}`);
  }
}

function indented(text: string): string {
  return text.replace(/^/gm, "    ");
}
