import { expect, test } from "vitest";
import { type ConnectionPhase, type PhaseEvent, phaseAfter, TRANSITIONS } from "./connection-phase.ts";

const PHASES = Object.keys(TRANSITIONS) as ConnectionPhase[];
const EVENTS: readonly PhaseEvent[] = ["frames", "long answer", "connect request", "close", "written", "closed"];

/** The phases that a connection may come to from one. */
function reachedFrom(start: ConnectionPhase): ReadonlySet<ConnectionPhase> {
  const reached = new Set<ConnectionPhase>([start]);
  for (const phase of reached) for (const next of Object.values(TRANSITIONS[phase])) reached.add(next);
  return reached;
}

test("each phase is reached from the first, and each ends", () => {
  expect([...reachedFrom("first bytes")].sort()).toEqual([...PHASES].sort());
  for (const phase of PHASES) expect(reachedFrom(phase)).toContain("ending");
});

test("no connection is read again once it closes", () => {
  for (const phase of ["closing", "ending"] as const) {
    expect([...reachedFrom(phase)].every((next) => next === "closing" || next === "ending")).toBe(true);
  }
});

test("either side may close in each phase, and the socket too", () => {
  for (const phase of PHASES) for (const event of ["close", "closed"] as const) phaseAfter(phase, event);
});

test.each(PHASES.flatMap((phase) => EVENTS.map((event) => [phase, event] as const)))(
  "in the phase of %s, %s has the next phase of the table or is a defect",
  (phase, event) => {
    const next = TRANSITIONS[phase][event];
    if (next === undefined) expect(() => phaseAfter(phase, event)).toThrow(`no "${event}" in the phase "${phase}"`);
    else expect(phaseAfter(phase, event)).toBe(next);
  },
);
