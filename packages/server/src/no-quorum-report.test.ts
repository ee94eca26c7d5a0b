import { composeZxid, MajorityQuorum, type ServerId, serverId, ZXID_NONE } from "@zooid/model";
import { beforeEach, expect, test } from "vitest";
import type { LogFields } from "./log-fields.ts";
import { type KnownConfiguration, NoQuorumReport } from "./no-quorum-report.ts";

const [ONE, TWO, THREE] = [serverId(1), serverId(2), serverId(3)];
const VERSION = composeZxid(1, 7);

let lines: { readonly text: string; readonly fields: LogFields }[];
let isLooking: boolean;
let connected: readonly ServerId[];
let members: KnownConfiguration;
let report: NoQuorumReport;

beforeEach(() => {
  lines = [];
  isLooking = true;
  connected = [];
  members = { verifier: new MajorityQuorum([ONE, TWO, THREE]), version: VERSION, isListed: true };
  report = new NoQuorumReport({
    sid: ONE,
    isLooking: () => isLooking,
    connected: () => connected,
    summary: () => "SUMMARY",
    members: () => members,
    error: (text, fields) => lines.push({ text, fields }),
  });
});

test("a server that reaches no quorum of the servers that it knows names them, and the file to write", () => {
  report.check();
  expect(lines).toEqual([
    { text: expect.stringContaining("SUMMARY"), fields: { event: "no-quorum", zxid: "0x100000007" } },
  ]);
  expect(lines[0]?.text).toContain("dynamicConfigFile");
  expect(lines[0]?.text).not.toContain("removed");
  report.check();
  expect(lines).toHaveLength(2);
});

test("a server that a change removed names that as well", () => {
  members = { ...members, isListed: false, verifier: new MajorityQuorum([TWO, THREE]) };
  report.check();
  expect(lines[0]?.text).toContain("removed server 1");
});

test("a server that has not joined yet was not removed", () => {
  members = { ...members, isListed: false, version: ZXID_NONE };
  report.check();
  expect(lines[0]?.text).not.toContain("removed");
});

test("a server whose ensemble has one list in its files names zoo.cfg", () => {
  members = { ...members, version: undefined };
  report.check();
  expect(lines[0]).toMatchObject({ text: expect.stringContaining("zoo.cfg"), fields: { event: "no-quorum" } });
  expect(lines[0]?.text).not.toContain("dynamicConfigFile");
});

test.each([
  ["has a leader", () => (isLooking = false)],
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
  report.check();
  expect(lines).toEqual([]);
});
