import { serverId } from "@zooid/model";
import type { FoundingObstacle, PeerPhase, SaidDisk, SaidHistory } from "@zooid/zab";
import { expect, test } from "vitest";
import { parseServerConfig } from "../config.ts";
import { FoundingReport } from "./founding-report.ts";

const S2 = serverId(2);

const said = (history: SaidHistory, ensembleId: string): SaidDisk => ({ history, ensembleId });

/** The report of server 1 of three, and its lines by level. */
function reporter() {
  const servers = [1, 2, 3].map((sid) => ({ sid, host: "127.0.0.1", quorumPort: sid, electionPort: 10 + sid }));
  const versionFile = "zoo.cfg.dynamic.500000003";
  const { ensemble } = parseServerConfig({ ensemble: { sid: 1, servers, versionFile } });
  if (ensemble === undefined) throw new Error("there is an ensemble");
  const lines: string[] = [];
  const state = {
    obstacles: [] as FoundingObstacle[] | undefined,
    phase: "election" as PeerPhase,
    reason: "silent",
    disk: said("attempt", "abcd"),
  };
  const report = new FoundingReport({
    ensemble,
    phase: () => state.phase,
    obstacles: () => state.obstacles,
    disk: () => state.disk,
    reachability: {
      get peers() {
        return [{ sid: S2, address: "127.0.0.1:12", reason: state.reason, isConnected: false, isRefused: false }];
      },
    },
    warn: (text, { event }) => lines.push(`warn ${event}: ${text}`),
    error: (text, { event }) => lines.push(`error ${event}: ${text}`),
  });
  return { report, state, lines };
}

test.each<[FoundingObstacle, RegExp]>([
  [
    { kind: "has-data", sid: S2, ...said("ensemble", "e") },
    /server 2 at 127\.0\.0\.1:12 has data.*docs\/disaster\.md.*move its data directory away/,
  ],
  [
    { kind: "has-data", sid: S2, ...said("attempt", "e") },
    /server 2 at 127\.0\.0\.1:12 holds an epoch.*Start every listed server.*move its data directory away/,
  ],
  [{ kind: "not-heard", sid: S2 }, /server 2 at 127\.0\.0\.1:12 accepts connections.*: silent\. Correct that/],
  [{ kind: "absent-beside-a-past", sid: S2 }, /zoo\.cfg\.dynamic\.500000003 has a version.*remove the file/],
  [{ kind: "awaited", sid: S2 }, /before server 2 at 127\.0\.0\.1:12 is heard, or was unreachable for 5000 ms: silent/],
])("what keeps a server from founding an ensemble is a warning once, then an error: %o", (obstacle, sentence) => {
  const { report, state, lines } = reporter();
  state.obstacles = [obstacle];
  report.warnOnce();
  report.check();
  const events = lines.map((line) => line.split(": ")[0]);
  expect(events).toEqual([`warn founding-${obstacle.kind}`, `error founding-${obstacle.kind}`]);
  for (const line of [...lines, report.note()]) expect(line).toMatch(sentence);
});

test("a server with a leader, or with data, reports nothing of it", () => {
  const { report, state, lines } = reporter();
  state.obstacles = [{ kind: "has-data", sid: S2, ...said("ensemble", "e") }];
  state.phase = "broadcast";
  report.warnOnce();
  state.phase = "discovery";
  state.obstacles = undefined;
  report.check();
  expect([...lines, report.note()].join("")).toBe("");
});

test("servers of two ensembles report each other at once and each time, until they are linked or one has changed", () => {
  const { report, lines } = reporter();
  report.unheard(S2, "ensemble");
  report.unheard(S2, "ensemble");
  report.check();
  expect(lines.length).toBe(2);
  expect(lines[0]).toMatch(
    /^error another-ensemble: server 2 belongs to another ensemble than server 1 \(abcd\).*"A wrong founding" in docs\/disaster\.md/,
  );
  report.linked(S2, said("attempt", "abcd"));
  report.check();
  report.unheard(S2, "ensemble");
  report.unheard(S2, undefined);
  report.check();
  expect(lines.length).toBe(3);
});

test("a server that serves reports a connected one with data of another ensemble, at once and each time", () => {
  const { report, state, lines } = reporter();
  state.phase = "broadcast";
  report.linked(S2, said("ensemble", "ef"));
  report.check();
  expect(lines.map((line) => line.split(": ")[0])).toEqual(["error another-ensemble", "error another-ensemble"]);
  expect(lines[0]).toMatch(/server 2 belongs to another ensemble than server 1 \(abcd\).*"A wrong founding"/);
  for (let i = 0; i < 10; i++) {
    report.lost(S2);
    report.linked(S2, said("ensemble", "ef"));
  }
  expect(lines).toHaveLength(2);
  report.lost(S2);
  report.check();
  expect(lines).toHaveLength(2);
  report.linked(S2, said("ensemble", "ef"));
  expect(lines).toHaveLength(3);
});

test.each<[string, PeerPhase, SaidDisk]>([
  ["of the same ensemble", "broadcast", said("ensemble", "abcd")],
  ["that had nothing written, and may have joined since", "broadcast", said("attempt", "ef")],
  ["whose data no other server has", "broadcast", said("own", "")],
  ["while this server has no leader", "election", said("ensemble", "ef")],
  ["while this server has no epoch yet", "discovery", said("ensemble", "ef")],
])("a connected server %s is not reported as one of another ensemble", (_, phase, disk) => {
  const { report, state, lines } = reporter();
  state.phase = phase;
  report.linked(S2, disk);
  report.check();
  expect(lines).toEqual([]);
});

test("a server beside data of two ensembles names both, in one line", () => {
  const { report, state, lines } = reporter();
  const of = (sid: number, disk: SaidDisk): FoundingObstacle => ({ kind: "has-data", sid: serverId(sid), ...disk });
  state.obstacles = [of(2, said("ensemble", "ef")), of(3, said("ensemble", "cd"))];
  report.check();
  expect(lines).toEqual([expect.stringMatching(/^error another-ensemble: .*server 2 to ef, server 3 to cd\. Correct/)]);
  state.obstacles = [of(2, said("ensemble", "ef")), of(3, said("attempt", "cd"))];
  report.check();
  expect(lines.map((line) => line.split(": ")[0])).toEqual([
    "error another-ensemble",
    "error founding-has-data",
    "error founding-has-data",
  ]);
});

test.each<[PeerPhase, boolean]>([
  ["election", true],
  ["discovery", true],
  ["synchronization", false],
  ["broadcast", false],
])("in the phase %s what keeps a server from founding an ensemble is reported: %s", (phase, isReported) => {
  const { report, state, lines } = reporter();
  state.obstacles = [{ kind: "not-heard", sid: S2 }];
  state.phase = phase;
  report.warnOnce();
  report.check();
  expect([lines.length, report.note() !== ""]).toEqual([isReported ? 2 : 0, isReported]);
  // The other way round, a server beside data of another ensemble is reported.
  report.linked(S2, said("ensemble", "ef"));
  expect(lines.some((line) => line.startsWith("error another-ensemble"))).toBe(!isReported);
});
