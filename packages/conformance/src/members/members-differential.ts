/**
 * Lets an ensemble of Apache ZooKeeper and one of zooid-server live through the same random acts of
 * an operator: members added, removed, promoted, demoted, moved to other ports and addresses, by
 * requests or by edited files and restarts; kill -9, wiped disks, rolling restarts. Compares after
 * each act which members serve in which role, whether a write succeeds, and `/zookeeper/config`; at
 * the end each acknowledged write must exist. Exit status 1 with the first difference of each
 * sequence that is not intended.
 *
 *     npm run tool -- members-differential [--sequences 1] [--steps 10] [--from 1] [--only apache|zooid] [--keep]
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fetchApacheJars } from "../clients.ts";
import { maybeOneOf, toolOptions } from "../tool-options.ts";
import { type Kind, MemberEnsemble, type Observation } from "./member-ensemble.ts";
import { type MemberSequence, memberSequence, stepText } from "./member-step.ts";
import { differences, membersText } from "./observed-difference.ts";

const options = toolOptions({ sequences: 1, steps: 10, from: 1, only: maybeOneOf(["apache", "zooid"]), keep: false });

interface Life {
  /** After the founding, and after each act. */
  readonly observations: readonly Observation[];
  readonly lost: readonly string[];
}

const jars = fetchApacheJars();
const root = mkdtempSync(join(tmpdir(), "members-differential-"));
const { from } = options;
let failed = 0;
for (let seed = from; seed < from + options.sequences; seed++) {
  if (!(await isSame(memberSequence(seed, options.steps)))) failed++;
}
if (options.keep || failed > 0) console.log(`kept: ${root}`);
else rmSync(root, { recursive: true, force: true });
console.log(
  `${options.sequences} sequences of ${options.steps} acts, ${failed} with a difference that is not intended`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function isSame(sequence: MemberSequence): Promise<boolean> {
  const { seed, changedBy, steps } = sequence;
  const began = performance.now();
  const kinds = (["apache", "zooid"] as const).filter((kind) => options.only === undefined || options.only === kind);
  const [first, second] = await Promise.all(kinds.map((kind) => live(kind, sequence)));
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `\nsequence ${seed}, by ${changedBy}, ${seconds} s: ${steps.map(({ step }) => stepText(step)).join(", ")}`,
  );
  if (first === undefined) return true;
  if (second === undefined) {
    for (const [i, { members: _, config, ...observed }] of first.observations.entries())
      console.log(titleOf(sequence, i), observed, membersText(first.observations[i] as Observation), config);
    return first.lost.length === 0;
  }
  for (const path of [...first.lost.map((one) => `Apache: ${one}`), ...second.lost.map((one) => `Zooid: ${one}`)])
    console.log(`  lost: ${path}`);
  for (const [i, theirs] of first.observations.entries()) {
    const ours = second.observations[i];
    if (ours === undefined) throw new Error(`no observation ${i} of Zooid`);
    const found = differences(theirs, ours, { step: steps[i - 1]?.step, changedBy });
    for (const { what, apache, zooid, reason } of found)
      console.log(
        `  ${titleOf(sequence, i)}: ${what}${reason === undefined ? "" : ` (${reason})`}\n    - ${indented(apache)}\n    + ${indented(zooid)}`,
      );
    if (found.some(({ reason }) => reason === undefined)) return false;
  }
  return second.lost.length === 0;
}

async function live(kind: Kind, { seed, changedBy, founders, steps }: MemberSequence): Promise<Life> {
  const folder = join(root, `${seed}-${kind}`);
  mkdirSync(folder);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = await freePorts(6);
  const ports = { quorum: [a, b], election: [c, d], client: [e, f] } as const;
  await using ensemble = new MemberEnsemble(
    { kind, folder, changedBy, ports, jars: kind === "apache" ? jars : undefined },
    founders,
  );
  const observations = [await ensemble.found()];
  for (const step of steps) observations.push(await ensemble.act(step));
  return { observations, lost: await ensemble.lost() };
}

function titleOf({ steps }: MemberSequence, index: number): string {
  const step = steps[index - 1]?.step;
  return step === undefined ? "founding" : `act ${index}, ${stepText(step)}`;
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n      ");
}
