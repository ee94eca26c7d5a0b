import { expect, test } from "vitest";
import { memberSequence, stepText } from "./member-step.ts";

const SEQUENCES = Array.from({ length: 200 }, (_, seed) => memberSequence(seed, 10));

test("equal seeds give equal sequences, and different ones others", () => {
  expect(memberSequence(7, 10)).toEqual(memberSequence(7, 10));
  expect(new Set(SEQUENCES.map((one) => JSON.stringify(one.steps))).size).toBe(SEQUENCES.length);
});

test("two voters stay, and no number is given twice", () => {
  for (const { founders, steps } of SEQUENCES) {
    const given = [
      ...founders.map(({ sid }) => sid),
      ...steps.flatMap(({ step }) => (step.kind === "add" ? step.sid : [])),
    ];
    expect(new Set(given).size).toBe(given.length);
    for (const { after } of steps)
      expect(after.filter(({ role }) => role === "participant").length).toBeGreaterThanOrEqual(2);
  }
});

test("each kind of act occurs, by requests and by restarts", () => {
  const kinds = (changedBy: string): ReadonlySet<string> =>
    new Set(
      SEQUENCES.filter((one) => one.changedBy === changedBy).flatMap(({ steps }) => steps.map(({ step }) => step.kind)),
    );
  const each = ["add", "remove", "role", "port", "kill", "wipe", "restart-all"];
  expect(kinds("requests")).toEqual(new Set([...each, "address"]));
  expect(kinds("restarts")).toEqual(new Set(each));
});

test("an act is a line of words", () => {
  expect(stepText({ kind: "port", sid: 2, port: "client" })).toBe("port 2 client");
  expect(stepText({ kind: "add", sid: 4, role: "observer" })).toBe("add 4 observer");
});
