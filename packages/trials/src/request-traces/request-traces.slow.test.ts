import { expect, test } from "vitest";
import { type CallCounts, isGetter, keyOf } from "./call-counts.ts";
import { isControl } from "./control-packages.ts";
import { traceRequests } from "./request-traces.ts";
import { TRACE_LETTERS, tracesOfPage } from "./trace-page.ts";

function functionsOf(calls: CallCounts): readonly string[] {
  return [...calls.values()].filter((call) => isControl(call) && !isGetter(call)).map(keyOf);
}

test("docs/architecture.md names the functions that a request calls, and no others", async () => {
  const traces = await traceRequests();
  for (const [letter, onPage] of tracesOfPage()) {
    const { common, any } = traces[TRACE_LETTERS[letter]];
    const called = new Set(functionsOf(any));
    const missing = functionsOf(common).filter((name) => !onPage.has(name));
    const notCalled = [...onPage].filter((name) => !called.has(name));
    expect({ letter, missing, notCalled }).toEqual({ letter, missing: [], notCalled: [] });
  }
});
