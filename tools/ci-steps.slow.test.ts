import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unknownNames } from "./named-commands.ts";
import { TOOL_GROUPS } from "./tool-table.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STEPS_FILE = join(ROOT, ".ci/steps.json");

interface Step {
  readonly name: string;
  readonly run: string;
  readonly proves: string;
  readonly seconds: number;
  readonly full?: boolean;
  readonly nightly?: boolean;
  readonly behind?: boolean;
  readonly alone?: boolean;
  readonly group?: string;
  readonly needed?: boolean;
}

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ci-steps-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Outcome {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

function start(command: "run" | "nightly", argv: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(join(ROOT, ".ci", command), argv, { encoding: "utf8" });
  return { status, output: stdout, errors: stderr };
}

/** Options by which a command runs steps of the test, and keeps in its folder when all passed. */
function optionsOf(steps: readonly Partial<Step>[]): readonly string[] {
  const file = join(directory, "steps.json");
  writeFileSync(file, JSON.stringify(steps.map((step) => ({ proves: "a step runs", seconds: 1, ...step }))));
  return ["--steps", file, "--record", join(directory, "last-full.json")];
}

function ciOf(steps: readonly Partial<Step>[], ...argv: readonly string[]): Outcome {
  return start("run", [...optionsOf(steps), ...argv]);
}

function nightlyOf(steps: readonly Partial<Step>[], ...argv: readonly string[]): Outcome {
  return start("nightly", [...optionsOf(steps), ...argv]);
}

const step = (name: string, more: Partial<Step> = {}): Partial<Step> => ({ name, run: `echo ran ${name}`, ...more });
const ran = (output: string): readonly string[] => [...output.matchAll(/^ran (.*)$/gm)].map(([, name]) => name ?? "");

test("each step of CI has a name of its own and runs a script or tool that there is", () => {
  const steps = JSON.parse(readFileSync(STEPS_FILE, "utf8")) as readonly Step[];
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  const commands = steps.map(({ run }) => run).join("\n");
  expect(
    unknownNames(
      commands,
      steps.map(({ name }) => name),
    ),
  ).toEqual([]);
});

test("what runs for each change takes 1,500 s at most", () => {
  const [, minutes] = /about: \.ci\/run (\d+) min/.exec(start("run", ["--list"]).output) ?? [];
  expect(Number(minutes)).toBeGreaterThan(0);
  expect(Number(minutes)).toBeLessThanOrEqual(25);
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
    expect(output).toMatch(/^one +ci +1 s +a step runs$/m);
  });

  test("names the nearest of a step that there is not", () => {
    const { status, errors } = ciOf(steps, "--only", "thre");
    expect([status, errors]).toEqual([
      2,
      '.ci/run: there is no step "thre"; the nearest is "three" (--list shows all)\n',
    ]);
    expect(ciOf(steps, "--from", "twi").errors).toContain('"two"');
  });

  test("ends at a step that fails, and says how to continue there", () => {
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

describe("steps of a group", () => {
  const until = (file: string): string => `until [ -e ${directory}/${file} ]; do sleep 0.01; done`;
  /** Steps that end only if they run at the same time. */
  const meeting = (run = "true"): readonly Partial<Step>[] => [
    step("one", { group: "pair", run: `touch ${directory}/one; ${until("two")}; echo ran one` }),
    step("two", { group: "pair", run: `touch ${directory}/two; ${until("one")}; echo ran two; ${run}` }),
  ];

  test("run at the same time, and the next step waits for them", () => {
    const last = step("last", { run: `echo ran last` });
    const { status, output } = ciOf([step("first"), ...meeting(), last]);
    expect([status, ran(output)]).toEqual([0, ["first", "one", "two", "last"]]);
    expect(output).toMatch(/^ +0 s {2}two \(pair\)$/m);
  });

  test("end the run where one of them fails", () => {
    const { status, output } = ciOf([...meeting("exit 3"), step("last")]);
    expect([status, ran(output)]).toEqual([1, ["one", "two"]]);
    expect(output).toContain("go on there with .ci/run --from two");
  });

  test("a group waits for what runs behind, if it wants to be alone, and for another group", () => {
    const behind = step("behind", { behind: true, run: `echo ran behind; touch ${directory}/behind` });
    const needs = (file: string, name: string): Partial<Step> =>
      step(name, {
        alone: true,
        group: name,
        run: `[ -e ${directory}/${file} ] && touch ${directory}/${name} && echo ran ${name}`,
      });
    const pairs = [needs("behind", "a"), needs("behind", "a2"), needs("a2", "b"), needs("a2", "b2")];
    const grouped = pairs.map((each, i) => ({ ...each, group: i < 2 ? "first" : "second" }));
    const { status, output } = ciOf([behind, ...grouped]);
    expect([status, ran(output)]).toEqual([0, ["behind", "a", "a2", "b", "b2"]]);
  });

  test("take as long as the longest of them", () => {
    const pair = [step("one", { seconds: 60, group: "pair" }), step("two", { seconds: 120, group: "pair" })];
    expect(ciOf([...pair, step("three", { seconds: 60 })], "--list").output).toContain("about: .ci/run 3 min");
  });
});

describe(".ci/nightly", () => {
  const steps = [step("one"), step("long", { full: true }), step("longest", { nightly: true }), step("two")];

  test("runs every step, in order, of which .ci/run --full leaves out the longest", () => {
    const { status, output } = nightlyOf(steps);
    expect([status, ran(output)]).toEqual([0, ["one", "long", "longest", "two"]]);
    expect(ran(ciOf(steps, "--full").output)).toEqual(["one", "long", "two"]);
    expect(ran(ciOf(steps).output)).toEqual(["one", "two"]);
  });

  test("begins at the given step, which .ci/run refuses", () => {
    expect(ran(nightlyOf(steps, "--from", "longest").output)).toEqual(["longest", "two"]);
    const { status, errors } = ciOf(steps, "--full", "--from", "longest");
    expect([status, errors]).toEqual([2, '.ci/run: "longest" runs with .ci/nightly only, or by --only longest\n']);
  });

  test("runs what is named alone, and so does .ci/run", () => {
    expect(ran(nightlyOf(steps, "--only", "longest,one").output)).toEqual(["one", "longest"]);
    expect(ran(ciOf(steps, "--only", "longest").output)).toEqual(["longest"]);
  });

  test("lists the steps of all tiers, as .ci/run does, and how long each tier takes", () => {
    const minutes = [step("one", { seconds: 60 }), step("long", { seconds: 120, full: true })];
    const longest = step("longest", { seconds: 240, nightly: true });
    const { output } = nightlyOf([...minutes, longest, step("behind", { seconds: 600, behind: true })], "--list");
    expect(output).toMatch(/^longest +nightly +4 min +a step runs$/m);
    expect(output).toContain("about: .ci/run 1 min, .ci/run --full 3 min, .ci/nightly 7 min");
    expect(ciOf(steps, "--list").output).toMatch(/^longest +nightly/m);
  });

  test("continues after a failure, alone or in a group, and names all that failed", () => {
    const broken = { run: "exit 3" };
    const failing = [
      step("a", broken),
      step("b"),
      step("c", { ...broken, group: "g" }),
      step("d", { group: "g" }),
      step("e"),
    ];
    const { status, output } = nightlyOf(failing);
    expect([status, ran(output)]).toEqual([1, ["b", "d", "e"]]);
    expect(output).toContain("a, c failed; all others passed; run them again with .ci/nightly --only a,c");
  });

  test("stops where a step fails that later ones need, and says where to continue", () => {
    const { output } = nightlyOf([
      step("one"),
      step("longest", { nightly: true, needed: true, run: "exit 3" }),
      step("two"),
    ]);
    expect(ran(output)).toEqual(["one"]);
    expect(output).toContain("longest failed; go on there with .ci/nightly --from longest");
  });

  test("names itself where an option is wrong", () => {
    expect(nightlyOf(steps, "--from", "loggest").errors).toContain('.ci/nightly: there is no step "loggest"');
  });
});

describe("the record of the last whole run", () => {
  const git = (...argv: readonly string[]): string => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    const { status, stdout, stderr } = spawnSync("git", [...identity, ...argv], { cwd: directory, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${argv.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  /** Runs a command in a clone whose steps are the given ones. */
  const inClone = (command: string, ...argv: readonly string[]): string => {
    const { stdout } = spawnSync(join(directory, ".ci", command), argv, { encoding: "utf8" });
    return stdout;
  };
  const record = (): string => join(directory, ".ci/last-full.json");

  beforeEach(() => {
    cpSync(join(ROOT, ".ci"), join(directory, ".ci"), { recursive: true });
    rmSync(record(), { force: true });
    const steps = [step("one"), step("longest", { nightly: true })];
    writeFileSync(
      join(directory, ".ci/steps.json"),
      JSON.stringify(steps.map((each) => ({ proves: "it runs", seconds: 1, ...each }))),
    );
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "--message", "steps");
  });

  test.each([
    ["run", ["--full"], ".ci/run --full"],
    ["nightly", [], ".ci/nightly"],
  ])("%s %j is kept with its commit and its command", (command, argv, expected) => {
    expect(inClone(command, ...argv)).toContain(`of ${expected}`);
    expect(JSON.parse(readFileSync(record(), "utf8"))).toMatchObject({
      commit: git("rev-parse", "HEAD"),
      command: expected,
    });
  });

  test.each([
    ["run", []],
    ["run", ["--full", "--only", "one"]],
    ["nightly", ["--from", "longest"]],
  ])("%s %j is a part, which is not kept", (command, argv) => {
    expect(inClone(command, ...argv)).toContain("everything holds");
    expect(existsSync(record())).toBe(false);
  });

  test("a run of changed files is not kept", () => {
    writeFileSync(join(directory, "changed"), "");
    expect(inClone("nightly")).toContain("so that this run is not recorded");
    expect(existsSync(record())).toBe(false);
  });
});
