import { type ServerId, serverId } from "@zooid/model";
import { beforeEach, expect, test } from "vitest";
import type { OperatorEvent } from "./log-events.ts";
import { NO_QUORUM_CHECK_MS, NO_QUORUM_REPORT_MS } from "./no-quorum-report.ts";
import { NotServingReport } from "./not-serving-report.ts";

const S2: ServerId = serverId(2);
const UNREACHABLE: OperatorEvent = { kind: "leader-unreachable", sid: S2, detail: "it has another port" };

let lines: string[];
let isServing: boolean;
let hasQuorum: boolean;
let report: NotServingReport;
beforeEach(() => {
  lines = [];
  isServing = false;
  hasQuorum = true;
  report = new NotServingReport({
    isServing: () => isServing,
    hasQuorum: () => hasQuorum,
    error: (text, { event }) => lines.push(`${event}: ${text}`),
  });
});

/** The checks of a minute, and one more. */
function minute(fromMs = 0): void {
  for (let ms = fromMs; ms <= fromMs + NO_QUORUM_REPORT_MS; ms += NO_QUORUM_CHECK_MS) report.check(ms);
}

test("a server that does not serve beside a quorum says so after a minute, then each minute, with the last reason", () => {
  report.noted({ kind: "quorum-lost" });
  report.noted(UNREACHABLE);
  expect(report.note(0)).toBe(
    "; no connection to the elected leader, server 2: it has another port. Compare the quorum port in line server.2 here with the one that server 2 listens on",
  );
  minute();
  const line =
    /^not-serving: this server has not served for 60 s, .* connected: no connection to the elected leader, server 2: it has/;
  expect(lines).toEqual([expect.stringMatching(line)]);
  expect(lines[0]).toContain("docs/operations.md");
  expect(report.note(NO_QUORUM_REPORT_MS)).toContain("not serving for 60 s");
  minute(NO_QUORUM_REPORT_MS);
  expect(lines).toHaveLength(2);
});

test("a server that serves in between, or has no quorum, begins the minute again", () => {
  report.noted(UNREACHABLE);
  report.check(0);
  isServing = true;
  expect(report.note(50_000)).toBe("");
  report.check(50_000);
  isServing = false;
  // The reason is over.
  expect(report.note(50_000)).toBe("");
  report.check(55_000);
  hasQuorum = false;
  report.check(100_000);
  hasQuorum = true;
  report.check(105_000);
  report.check(160_000);
  expect(lines).toEqual([]);
  report.check(165_000);
  expect(lines).toHaveLength(1);
});

test("a link of a listed server that was refused within the last minute is named beside the reason", () => {
  report.refused("a link from 10.0.0.3 was refused: it speaks TLS", 10_000);
  expect(report.note(69_000)).toBe("; a link from 10.0.0.3 was refused: it speaks TLS");
  expect(report.note(70_000)).toBe("");
  report.noted(UNREACHABLE);
  report.refused("a link from 10.0.0.2 was refused: it speaks TLS", 60_000);
  minute();
  expect(lines[0]).toContain(
    "it has another port. Compare the quorum port in line server.2 here with the one that server 2 listens on; a link from 10.0.0.2 was refused: it speaks TLS; see",
  );
  isServing = true;
  expect(report.note(NO_QUORUM_REPORT_MS)).toBe("");
});
