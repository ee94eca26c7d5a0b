import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";

/** All its procedures are run, with the settings that it shows. */
export const DISASTER_PAGE = "docs/disaster.md";
/** Those that name machines are run. */
export const OPERATIONS_PAGE = "docs/operations.md";

/** A block of commands on one machine. */
export interface Commands {
  readonly machine: string;
  readonly text: string;
}

/** The steps that a page tells operators to do in one situation. */
export interface Procedure {
  /** The heading. */
  readonly title: string;
  /** In the order of the page. */
  readonly steps: readonly Commands[];
}

const SECTION = /^#{2,3} (.+)$/m;
const BLOCK = /^```sh\n([\s\S]*?)^```$/gm;
const MACHINE = /^# on (\S+)\n/;

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

/**
 * The procedures of a page: each section with `sh` blocks, whose first lines say on which machine
 * they run.
 *
 * @throws RangeError for a block that names no machine
 */
export function proceduresIn(page: string): readonly Procedure[] {
  const [, ...parts] = page.split(new RegExp(SECTION, "gm"));
  const procedures: Procedure[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [title = "", text = ""] = [parts[i], parts[i + 1]];
    const steps = [...text.matchAll(BLOCK)].map(([, block = ""]) => commandsOf(title, block));
    if (steps.length > 0) procedures.push({ title, steps });
  }
  return procedures;
}

/** The first `properties` block of a page. */
export function settingsIn(page: string): string {
  const [, settings] = /^```properties\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (settings === undefined) throw new RangeError("the page shows no zoo.cfg");
  return settings;
}

function commandsOf(title: string, block: string): Commands {
  const [, machine] = MACHINE.exec(block) ?? [];
  if (machine === undefined) throw new RangeError(`a block of "${title}" does not begin with "# on MACHINE"`);
  return { machine, text: block };
}
