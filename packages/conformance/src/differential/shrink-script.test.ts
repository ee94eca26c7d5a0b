import { describe, expect, test } from "vitest";
import type { Script, Step } from "./script.ts";
import { shrinkScript } from "./shrink-script.ts";

const requests = (...labels: readonly string[]): Step => ({
  kind: "requests",
  session: "a",
  requests: labels.map((label) => ({ label, opcode: 4, body: () => Buffer.alloc(0) })),
});
const labelsOf = (script: Script): readonly string[] =>
  script.steps.flatMap((step) => (step.kind === "requests" ? step.requests.map(({ label }) => label) : [step.kind]));

describe("shrinking a script", () => {
  const script: Script = {
    seed: 1,
    steps: [
      ...Array.from({ length: 20 }, (_, i) => requests(`before ${i}`)),
      requests("x", "cause", "y"),
      ...Array.from({ length: 20 }, (_, i) => requests(`between ${i}`)),
      { kind: "leave", session: "b" },
      requests("effect", "z"),
      ...Array.from({ length: 20 }, (_, i) => requests(`after ${i}`)),
    ],
  };
  const differs = (candidate: Script): Promise<boolean> => {
    const labels = labelsOf(candidate);
    const [cause, leave, effect] = ["cause", "leave", "effect"].map((label) => labels.indexOf(label));
    return Promise.resolve(
      cause !== -1 && cause !== undefined && cause < (leave ?? -1) && (leave ?? 0) < (effect ?? -1),
    );
  };

  test("keeps what the difference needs, in its order, and nothing else", async () => {
    expect(labelsOf(await shrinkScript(script, differs, 1000))).toEqual(["cause", "leave", "effect"]);
  });

  test("stops at its limit with a script that still differs", async () => {
    let asked = 0;
    const counted = (candidate: Script): Promise<boolean> => {
      asked++;
      return differs(candidate);
    };
    expect(await differs(await shrinkScript(script, counted, 5))).toBe(true);
    expect(asked).toBe(5);
  });
});
