import { composeZxid, MajorityQuorum, parseMembers, type ServerId, serverId, ZXID_NONE } from "@zooid/model";
import type { SaidHistory } from "@zooid/zab";
import { beforeEach, describe, expect, test } from "vitest";
import type { LogFields } from "./log-fields.ts";
import {
  type KnownConfiguration,
  NO_QUORUM_REPORT_MS,
  type NoQuorumParts,
  NoQuorumReport,
} from "./no-quorum-report.ts";

const [ONE, TWO, THREE] = [serverId(1), serverId(2), serverId(3)];
const THREE_LISTED = parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2");
const VERSION = composeZxid(1, 7);

let lines: { readonly text: string; readonly fields: LogFields }[];
let isServing: boolean;
let refused: readonly ServerId[];
let loss: ReturnType<NoQuorumParts["loss"]>;
let history: SaidHistory;
let connected: readonly ServerId[];
let members: KnownConfiguration;
let report: NoQuorumReport;

beforeEach(() => {
  lines = [];
  isServing = false;
  loss = undefined;
  refused = [];
  history = "ensemble";
  connected = [];
  const verifier = new MajorityQuorum([ONE, TWO, THREE]);
  members = { verifier, version: VERSION, isListed: true, file: undefined, list: THREE_LISTED };
  report = new NoQuorumReport({
    sid: ONE,
    isServing: () => isServing,
    loss: () => loss,
    history: () => history,
    connected: () => connected,
    refused: () => refused,
    summary: () => "SUMMARY",
    members: () => members,
    error: (text, fields) => lines.push({ text, fields }),
  });
});

const said = (history: SaidHistory, ensembleId = history === "none" ? "" : "an ensemble") => ({ history, ensembleId });

/** A minute passes, and a bit. */
function minute(fromMs = 0): void {
  for (let ms = fromMs; ms <= fromMs + NO_QUORUM_REPORT_MS; ms += 5_000) report.check(ms);
}

test("a server without a quorum for a minute names the servers, the file to write and the page, then once a minute", () => {
  minute();
  expect(lines).toEqual([
    { text: expect.stringContaining("SUMMARY"), fields: { event: "no-quorum", zxid: "0x100000007" } },
  ]);
  expect(lines[0]?.text).toContain("dynamicConfigFile");
  expect(lines[0]?.text).toContain("docs/disaster.md");
  expect(lines[0]?.text).not.toContain("removed");
  minute(NO_QUORUM_REPORT_MS);
  expect(lines).toHaveLength(2);
});

test("a quorum in between begins the minute again", () => {
  report.check(0);
  connected = [TWO];
  report.check(55_000);
  connected = [];
  report.check(60_000);
  report.check(115_000);
  expect(lines).toEqual([]);
  report.check(120_000);
  expect(lines).toHaveLength(1);
});

test("a server that a change removed names that as well", () => {
  members = { ...members, isListed: false, verifier: new MajorityQuorum([TWO, THREE]) };
  minute();
  expect(lines[0]?.text).toContain("removed server 1");
});

test("a server that has not joined yet was not removed", () => {
  members = { ...members, isListed: false, version: ZXID_NONE };
  minute();
  expect(lines[0]?.text).not.toContain("removed");
});

test("a server whose file lists itself alone says what is in force, and names the page", () => {
  members = { ...members, file: parseMembers("server.1=a:1:2") };
  minute();
  expect(lines[0]?.text).toContain("The file of this server lists 1, and the list in force is 1, 2, 3: only a quorum");
  expect(lines[0]?.text).toContain("docs/disaster.md");
});

test("a server whose operators edit its file names zoo.cfg", () => {
  members = { ...members, file: THREE_LISTED };
  minute();
  expect(lines[0]).toMatchObject({ text: expect.stringContaining("zoo.cfg"), fields: { event: "no-quorum" } });
  expect(lines[0]?.text).not.toContain("the list in force");
  expect(lines[0]?.text).not.toContain("dynamicConfigFile");
});

test.each([
  ["serves", () => (isServing = true)],
  ["reaches a quorum with itself", () => (connected = [TWO])],
  [
    "is no voter and reaches a quorum",
    () => {
      members = { ...members, verifier: new MajorityQuorum([TWO, THREE]), isListed: false };
      connected = [TWO, THREE];
    },
  ],
])("a server that %s reports nothing", (_, change) => {
  change();
  minute();
  expect(lines).toEqual([]);
  expect(report.note(NO_QUORUM_REPORT_MS)).toBe("");
});

describe("servers that are reached and not counted", () => {
  beforeEach(() => {
    connected = [TWO, THREE];
  });

  test("are named with the reason, at once for probes and after a minute in the log", () => {
    for (const sid of [TWO, THREE]) report.noted({ kind: "learner-not-counted", sid });
    const reasons =
      "; server 2 is not counted: its data directory is empty, has lost data, or has another history; server 3 is not counted: ";
    expect(report.note(0)).toContain(reasons);
    expect(report.note(0)).not.toContain("docs/disaster.md");
    minute();
    expect(lines[0]?.text).toContain(reasons);
    expect(report.note(NO_QUORUM_REPORT_MS + 5_000)).toContain("no quorum for 65 s, see docs/disaster.md");
  });

  test("are a quorum again when enough of them count", () => {
    for (const sid of [TWO, THREE]) report.noted({ kind: "learner-not-counted", sid });
    report.noted({ kind: "learner-follows", sid: TWO });
    minute();
    expect(lines).toEqual([]);
  });

  test("include this one, which has no data beside a server that has", () => {
    connected = [TWO];
    report.noted({ kind: "history-missing-here", sid: TWO });
    minute();
    expect(lines[0]?.text).toContain("server 1 (this one) is not counted: it has no data, and server 2 has");
  });

  test.each([
    ["part-of-the-log", "it has lost its log, or a part of it"],
    ["old-disk", "its disk is not the one by which the ensemble counts it"],
    ["newer-file", "its dynamic file has a newer configuration than its log"],
  ] as const)("include this one, if it has a loss: %s", (its, reason) => {
    connected = [TWO];
    loss = its;
    minute();
    expect(lines[0]?.text).toContain(`server 1 (this one) is not counted: ${reason}`);
  });

  test("are forgotten once clients are served", () => {
    report.noted({ kind: "learner-not-counted", sid: TWO });
    isServing = true;
    report.check(0);
    isServing = false;
    expect(report.note(0)).toBe("");
  });
});

test("a server without data that connects to one with data is not counted, until it has some", () => {
  connected = [TWO];
  report.heard(TWO, said("none"));
  minute();
  expect(lines[0]?.text).toContain(
    "server 2 is not counted: its data directory is empty, has lost data, or has another history",
  );
  report.heard(TWO, said("ensemble"));
  expect(report.note(0)).not.toContain("not counted");
});

test("servers without data count for each other", () => {
  history = "none";
  connected = [TWO];
  report.heard(TWO, said("none"));
  minute();
  expect(lines).toEqual([]);
});

test("a server that says that it has lost its log is not counted", () => {
  connected = [TWO, THREE];
  loss = "part-of-the-log";
  report.noted({ kind: "founding-forbidden", sid: TWO });
  report.heard(TWO, said("ensemble", ""));
  report.heard(THREE, said("ensemble"));
  minute();
  expect(lines[0]?.text).toContain("server 1 (this one) is not counted: it has lost its log, or a part of it");
  expect(lines[0]?.text).toContain("server 2 is not counted: it has lost its log, or a part of it");
});

test.each<[string, readonly ServerId[], readonly ServerId[], string[]]>([
  ["down", [], [], ["Start the servers that are down."]],
  ["refused", [], [TWO, THREE], ["Correct what keeps these servers from each other"]],
  ["down and refused", [], [TWO], ["Correct what keeps these servers", "Start the servers that are down."]],
  ["connected, and not counted", [TWO, THREE], [], []],
])("the remedy is one for servers that are %s", (_, linked, refusing, remedies) => {
  connected = linked;
  refused = refusing;
  for (const sid of linked) report.noted({ kind: "learner-not-counted", sid });
  minute();
  const all = ["Correct what keeps these servers", "Start the servers that are down."];
  const text = lines[0]?.text ?? "";
  for (const remedy of remedies) expect(text).toContain(remedy);
  expect(text).not.toMatch(/ {2}/);
  expect(all.filter((remedy) => text.includes(remedy))).toHaveLength(remedies.length);
});

test("a server that says that it does not vote is not counted, until it votes", () => {
  connected = [TWO, THREE];
  for (const sid of [TWO, THREE]) report.voted(sid, false);
  minute();
  expect(lines[0]?.text).toContain("server 2 is not counted: it does not vote, and its log says why");
  report.voted(TWO, true);
  expect(report.hasQuorum()).toBe(true);
  report.noted({ kind: "learner-not-counted", sid: TWO });
  report.voted(TWO, true);
  expect(report.hasQuorum()).toBe(false);
});
