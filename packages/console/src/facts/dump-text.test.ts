import { expect, test } from "vitest";
import { parseDump } from "./dump-text.ts";

function parsed(text: string): Readonly<Record<string, readonly string[]>> {
  const steps = parseDump(text);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return Object.fromEntries(step.value);
}

test("each session has the paths below it", () => {
  const text = [
    ...["SessionTracker dump:", "Session Sets (2)/(1):", "0 expire at now:", "1 expire at later:", "\t0x9"],
    ...["ephemeral nodes dump:", "Sessions with Ephemerals (2):", "0x1:", "\t/a", "\t/b: c", "0x2f:", "\t/d\t"],
    ...["Connections dump:", "Connections Sets (1)/(1):", "\t/not/an/ephemeral", ""],
  ].join("\n");
  expect(parsed(text)).toEqual({ "0x1": ["/a", "/b: c"], "0x2f": ["/d\t"] });
});

test("a session without paths has none, and a path without a session is passed over", () => {
  expect(parsed("\t/before\n0x1:\n0x2:  \n\t/a\n")).toEqual({ "0x1": [], "0x2": ["/a"] });
  expect(parsed("0x1:\n\t/a\n\n\t/b\n")).toEqual({ "0x1": ["/a"] });
  expect(parsed("x0x1:\n\t/a\n0xg:\n\t/b\n0x1\n\t/c\n0x3:\n/d\n")).toEqual({ "0x3": [] });
  expect(parsed("")).toEqual({});
});
