import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { unknownNames } from "./named-commands.ts";
import { ROOT } from "./pack/public-packages.ts";

const FOLDER = join(ROOT, ".github/workflows");

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}
interface Job {
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: { readonly include: readonly { readonly node: number }[] } };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const STEPS = (
  JSON.parse(readFileSync(join(ROOT, ".ci/steps.json"), "utf8")) as readonly { readonly name: string }[]
).map(({ name }) => name);
const WORKFLOWS = readdirSync(FOLDER).map(
  (file) => [file, parse(readFileSync(join(FOLDER, file), "utf8")) as Workflow] as const,
);
const jobsOf = ({ jobs }: Workflow): readonly Job[] => Object.values(jobs);
const commandsOf = (job: Job): readonly string[] => job.steps.flatMap(({ run = [] }) => run);

test.each(WORKFLOWS)("%s runs scripts, steps and files that exist", (_, workflow) => {
  const commands = jobsOf(workflow).flatMap(commandsOf);
  expect(commands.length).toBeGreaterThan(0);
  expect(unknownNames(commands.join("\n"), STEPS)).toEqual([]);
});

test.each(WORKFLOWS)("%s has few rights, an end, and one run at a time", (_, workflow) => {
  expect(workflow.permissions).toMatchObject({ contents: "read" });
  expect(workflow.concurrency).toBeDefined();
  for (const job of jobsOf(workflow)) expect(job["timeout-minutes"]).toBeLessThan(360);
});

test.each(WORKFLOWS)("%s takes actions of GitHub alone, each at a major version", (_, workflow) => {
  const actions = jobsOf(workflow).flatMap(({ steps }) => steps.flatMap(({ uses = [] }) => uses));
  expect(actions.filter((action) => !/^actions\/[a-z-]+@v\d+$/.test(action))).toEqual([]);
});

test("each push and each pull request is checked, built, tested and packed, on each Node.js that contributors may have", () => {
  const workflow = new Map(WORKFLOWS).get("ci.yml");
  expect(Object.keys(workflow?.on ?? {})).toEqual(["push", "pull_request"]);
  const [job, ...others] = workflow === undefined ? [] : jobsOf(workflow);
  expect(others).toEqual([]);
  expect(job?.strategy?.matrix.include.map(({ node }) => node)).toEqual([20, 22, 24]);
  const commands = job === undefined ? [] : commandsOf(job);
  for (const command of ["npm run check", "npm run build", "npm test", "npm run pack-check"])
    expect(commands.filter((each) => each.startsWith(command)).length, command).toBe(1);
});

test("all steps run each night, by .ci/nightly", () => {
  const workflow = new Map(WORKFLOWS).get("nightly.yml");
  expect(Object.keys(workflow?.on ?? {})).toContain("schedule");
  const commands = workflow === undefined ? [] : jobsOf(workflow).flatMap(commandsOf);
  expect(commands.filter((command) => command.includes(".ci/nightly "))).toHaveLength(1);
});

test.each([
  ["npm run chek", ["npm run chek"]],
  ["npm tset", ["npm tset"]],
  ["npm run tool -- kazoo --rounds 2", ["npm run tool -- kazoo"]],
  ["npm run test:browser", ["npm run test:browser"]],
  ["npm run test:browser -w packages/console", []],
  [".ci/install-tool && .ci/run --full --from check", [".ci/install-tool"]],
  [".ci/nightly --only check,tset", ["tset"]],
])("%s names what does not exist: %j", (command, expected) => {
  expect(unknownNames(command, STEPS)).toEqual(expected);
});
