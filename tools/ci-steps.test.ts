import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TOOL_GROUPS } from "./tool-table.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STEPS_FILE = join(ROOT, ".ci/steps.json");

interface Step {
  readonly name: string;
  readonly run: string;
  readonly proves: string;
  readonly seconds: number;
  readonly full?: boolean;
  readonly behind?: boolean;
  readonly alone?: boolean;
}

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ci-steps-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function ci(...argv: readonly string[]): { status: number | null; output: string; errors: string } {
  const { status, stdout, stderr } = spawnSync(join(ROOT, ".ci/run"), argv, { encoding: "utf8" });
  return { status, output: stdout, errors: stderr };
}

/** Steps of the test, and where it runs them. */
function ciOf(steps: readonly Partial<Step>[], ...argv: readonly string[]): ReturnType<typeof ci> {
  const file = join(directory, "steps.json");
  writeFileSync(file, JSON.stringify(steps.map((step) => ({ proves: "a step runs", seconds: 1, ...step }))));
  return ci("--steps", file, "--record", join(directory, "last-full.json"), ...argv);
}

const step = (name: string, more: Partial<Step> = {}): Partial<Step> => ({ name, run: `echo ran ${name}`, ...more });
const ran = (output: string): readonly string[] => [...output.matchAll(/^ran (.*)$/gm)].map(([, name]) => name ?? "");

test("each step of CI has a name of its own and runs a script or tool that there is", () => {
  const steps = JSON.parse(readFileSync(STEPS_FILE, "utf8")) as readonly Step[];
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  const scriptsOf = (folder: string): object =>
    (JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as { scripts: object }).scripts;
  const scripts = scriptsOf(".");
  const tools = TOOL_GROUPS.flatMap((group) => group.tools.map(({ name }) => name));
  for (const { run } of steps) {
    for (const [, script = "", tool] of run.matchAll(/npm run (\S+)(?: -- (\S+))?/g)) {
      const workspace = / -w (\S+)/.exec(run)?.[1];
      expect(Object.keys(workspace === undefined ? scripts : scriptsOf(workspace))).toContain(script);
      if (script === "tool") expect(tools).toContain(tool);
    }
  }
});

test("each tool is a file that there is, and the root's package.json has no script for it", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const { file } of TOOL_GROUPS.flatMap((group) => group.tools)) {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(Object.values(scripts).filter((script) => script.includes(file))).toEqual([]);
  }
});

describe(".ci/run", () => {
  const steps = [step("one"), step("two"), step("long", { full: true }), step("three")];

  test("runs every step but the long ones, in order", () => {
    const { status, output } = ciOf(steps);
    expect([status, ran(output)]).toEqual([0, ["one", "two", "three"]]);
    expect(output).toContain("--full has not passed yet");
  });

  test("begins at the given step", () => {
    expect(ran(ciOf(steps, "--from", "two").output)).toEqual(["two", "three"]);
    expect(ran(ciOf(steps, "--full", "--from", "long").output)).toEqual(["long", "three"]);
    expect(ciOf(steps, "--from", "long")).toMatchObject({ status: 2, errors: expect.stringContaining("--full only") });
  });

  test("runs what is named alone, in the table's order, long steps too", () => {
    expect(ran(ciOf(steps, "--only", "three,long,one").output)).toEqual(["one", "long", "three"]);
  });

  test("lists what there is and runs nothing", () => {
    const { status, output } = ciOf(steps, "--list");
    expect([status, ran(output)]).toEqual([0, []]);
    expect(output).toMatch(/^long +full +1 s +a step runs$/m);
  });

  test("names the nearest of a step that there is not", () => {
    const { status, errors } = ciOf(steps, "--only", "thre");
    expect([status, errors]).toEqual([
      2,
      '.ci/run: there is no step "thre"; the nearest is "three" (--list shows all)\n',
    ]);
    expect(ciOf(steps, "--from", "twi").errors).toContain('"two"');
  });

  test("ends at a step that fails, and says how to go on there", () => {
    const { status, output } = ciOf([step("one"), step("two", { run: "exit 3" }), step("three")]);
    expect([status, ran(output)]).toEqual([1, ["one"]]);
    expect(output).toContain("two: failed with status 3");
    expect(output).toContain("go on there with .ci/run --from two");
  });

  test("a step behind the others is joined before one that wants to be alone, and its failure counts", () => {
    const wait = `until [ -e ${directory}/go ]; do sleep 0.01; done`;
    const behind = step("behind", { behind: true, run: `${wait}; echo ran behind; exit 4` });
    const going = step("going", { run: `echo ran going; touch ${directory}/go` });
    const { status, output } = ciOf([behind, going, step("alone", { alone: true })]);
    expect([status, ran(output)]).toEqual([1, ["going", "behind"]]);
    expect(output).toContain("behind (behind): failed with status 4");
  });
});
