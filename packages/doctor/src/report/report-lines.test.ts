import { expect, test } from "vitest";
import { finding } from "../finding.ts";
import { reportJson, reportLines } from "./report-lines.ts";

const FOUND = [
  finding("even-voters", "the list in force", "4 voters", "add one"),
  finding("member-silent", "server 3", "it does not answer", "start it"),
];

test("errors come before warnings, what was not looked at after them, and the sum last", () => {
  expect(reportLines(FOUND, { looked: "3 servers", missing: ["the admin port"] })).toEqual([
    "ERROR member-silent: server 3",
    "  it does not answer",
    "  One failure that the ensemble survives is used up.",
    "  Remedy: start it",
    "",
    "WARNING even-voters: the list in force",
    "  4 voters",
    expect.stringContaining("One voter more than needed"),
    "  Remedy: add one",
    "",
    "Not looked at: the admin port",
    "3 servers: 1 error, 1 warning",
  ]);
});

test("a report without findings says so, also for programs", () => {
  const scope = { looked: "3 servers", missing: [] };
  expect(reportLines([], scope)).toEqual(["3 servers: nothing found"]);
  expect(reportJson([], scope)).toEqual({ sound: true, looked: "3 servers", missing: [], findings: [] });
  expect(reportJson(FOUND, scope)).toMatchObject({
    sound: false,
    findings: [{ id: "member-silent" }, { id: "even-voters" }],
  });
});
