import { type Members, membersOf, membersText, OpCode, serverId, ZXID_NONE } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { describe, expect, test } from "vitest";
import { TestEnsemble } from "./testing/ensemble.ts";
import { create, read, reconfig, setData } from "./testing/requests.ts";

// Changes of the ensemble's configuration while it runs.

const line = (sid: number, role = "participant") =>
  `server.${sid}=h${sid}:${2000 + sid}:${3000 + sid}:${role};${4000 + sid}`;

function membersWith(...sids: readonly number[]): Members {
  const servers = sids.map((sid) => ({
    sid: serverId(sid),
    host: `h${sid}`,
    quorumPort: 2000 + sid,
    electionPort: 3000 + sid,
    isObserver: false,
    clientAddress: { host: undefined, port: 4000 + sid },
    group: undefined,
    weight: 1,
  }));
  return membersOf(servers, ZXID_NONE);
}

/** Voters, and servers that are listed nowhere. */
function ensembleOf(voterCount: number, joinerCount = 0, voterCountMin = 2): TestEnsemble {
  const members = membersWith(...Array.from({ length: voterCount }, (_, i) => i + 1));
  return new TestEnsemble(
    voterCount,
    { observers: joinerCount, members, voterCountMin },
    {
      isReconfigEnabled: true,
      auth: { superDigest: undefined, digestEnabled: true, skipAcl: true },
      levels: versionWith(1),
    },
  );
}

const votersOf = (ensemble: TestEnsemble, sid: number): string =>
  [...(ensemble.member(serverId(sid)).replica.zab.members.committed?.verifier.voters ?? [])].sort().join();

/** Asks the leader for a change, and lets it run. */
function change(ensemble: TestEnsemble, ...of: Parameters<typeof reconfig>): string {
  const { leader } = ensemble;
  const answer = leader.ask(leader.open(), OpCode.RECONFIG, reconfig(...of));
  ensemble.advance(1000);
  return answer;
}

test("the first configuration is agreed on with the epoch that first led, and every server shows it", () => {
  const ensemble = ensembleOf(3);
  for (const member of ensemble.members) {
    const { committed } = member.replica.zab.members;
    expect(committed && membersText(committed)).toContain("version=100000000");
    expect(member.ask(member.open(), OpCode.GET_DATA, read("/zookeeper/config"))).toContain("version=100000000");
  }
});

test("a server that is listed nowhere follows without a vote, and votes once it has joined", () => {
  const ensemble = ensembleOf(3, 1);
  const joiner = ensemble.member(serverId(4));
  expect([joiner.replica.zab.state, joiner.replica.isServing]).toEqual(["observing", true]);
  const answer = change(ensemble, line(4));
  expect(answer).toContain("server.4=h4:2004:3004:participant;0.0.0.0:4004");
  expect([1, 2, 3, 4].map((sid) => votersOf(ensemble, sid))).toEqual(Array(4).fill("1,2,3,4"));
  expect(joiner.replica.zab.state).toBe("following");
  const status = ensemble.leader.replica.zab.learners().find(({ sid }) => sid === 4);
  expect(status?.isObserver).toBe(false);
  // Three of four are needed now, and the joiner is one of them.
  const [follower] = ensemble.followers.filter(({ sid }) => sid !== 4);
  if (follower === undefined) throw new Error("somebody follows");
  ensemble.cutOff(follower);
  const { leader } = ensemble;
  expect(leader.ask(leader.open(), OpCode.CREATE, create("/a"))).toBe("path /a");
});

test("watches on the configuration fire on every server, and reads show it from then on", () => {
  const ensemble = ensembleOf(3, 1);
  const watching = ensemble.members.map((member) => ({ member, ref: member.open() }));
  for (const { member, ref } of watching) member.ask(ref, OpCode.GET_DATA, read("/zookeeper/config", true));
  change(ensemble, line(4));
  for (const { member, ref } of watching) {
    expect(member.take(ref)).toEqual(["event 3 /zookeeper/config"]);
    expect(member.ask(ref, OpCode.GET_DATA, read("/zookeeper/config"))).toContain("server.4=");
  }
});

test("a leader that leaves commits the change, transfers leadership, and follows without a vote", () => {
  const ensemble = ensembleOf(4);
  const { leader } = ensemble;
  const others = ensemble.members.filter((member) => member !== leader);
  change(ensemble, null, String(leader.sid));
  ensemble.advance(1000);
  expect(leader.replica.zab.state).toBe("observing");
  expect(others).toContain(ensemble.leader);
  const rest = others.map(({ sid }) => sid).join();
  expect(ensemble.members.map(({ sid }) => votersOf(ensemble, sid))).toEqual(Array(4).fill(rest));
  const next = ensemble.leader;
  expect(next.ask(next.open(), OpCode.CREATE, create("/a"))).toBe("path /a");
});

test("all servers are replaced by others in one change", () => {
  const ensemble = ensembleOf(3, 3);
  const text = [4, 5, 6].map((sid) => line(sid)).join(",");
  change(ensemble, null, null, text);
  ensemble.advance(2000);
  expect([4, 5, 6]).toContain(ensemble.leader.sid);
  expect(ensemble.members.map(({ sid }) => votersOf(ensemble, sid))).toEqual(Array(6).fill("4,5,6"));
  for (const sid of [1, 2, 3]) ensemble.cutOff(ensemble.member(serverId(sid)));
  const { leader } = ensemble;
  expect(leader.ask(leader.open(), OpCode.CREATE, create("/a"))).toBe("path /a");
});

test("a change is committed by quorums of both configurations, and what follows waits for it", () => {
  const ensemble = ensembleOf(3, 2);
  const { leader } = ensemble;
  const ref = leader.open();
  const joiner = ensemble.member(serverId(4));
  // It follows when the change is checked, and is cut off before it has logged it.
  leader.send(ref, 1, OpCode.RECONFIG, reconfig(null, null, [line(4), line(5)].join()));
  leader.send(ref, 2, OpCode.CREATE, create("/behind"));
  ensemble.cutOff(joiner);
  expect(leader.take(ref)).toEqual([]);
  expect(leader.replica.zab.members.isChanging).toBe(true);
  ensemble.rejoin(joiner);
  ensemble.advance(3000);
  expect(votersOf(ensemble, 4)).toBe("4,5");
  const next = ensemble.leader;
  expect(next.ask(next.open(), OpCode.EXISTS, read("/behind"))).toContain("stat");
});

test("a server that was away during a change finds the ensemble by a server that it knows", () => {
  const ensemble = ensembleOf(3, 2);
  const [away] = ensemble.followers;
  if (away === undefined) throw new Error("somebody follows");
  ensemble.cutOff(away);
  ensemble.advance(1000);
  const stays = ensemble.leader.sid;
  const leaves = [1, 2, 3].filter((sid) => sid !== stays && sid !== away.sid);
  change(ensemble, [4, 5].map((sid) => line(sid)).join(","), leaves.join());
  ensemble.advance(1000);
  change(ensemble, null, String(stays));
  ensemble.advance(1000);
  ensemble.rejoin(away);
  ensemble.advance(3000);
  expect(votersOf(ensemble, away.sid)).toBe([away.sid, 4, 5].sort().join());
  expect([away.replica.zab.state, away.replica.isServing]).toEqual(["following", true]);
});

test("an observer becomes a voter, and a voter an observer", () => {
  const ensemble = ensembleOf(3, 1);
  change(ensemble, line(4, "observer"));
  expect(ensemble.member(serverId(4)).replica.zab.state).toBe("observing");
  change(ensemble, line(4));
  expect(ensemble.member(serverId(4)).replica.zab.state).toBe("following");
  const [follower] = ensemble.followers.filter(({ sid }) => sid !== 4);
  if (follower === undefined) throw new Error("somebody follows");
  change(ensemble, line(follower.sid, "observer"));
  expect(follower.replica.zab.state).toBe("observing");
  expect(ensemble.leader.replica.zab.learners().find(({ sid }) => sid === follower.sid)?.isObserver).toBe(true);
});

describe("a change is refused", () => {
  const missing = line(9);
  test.each([
    ["for another version", "BAD_VERSION", [line(4), null, null, 7]],
    ["that leaves too few voters", "BAD_ARGUMENTS", [null, "1,2"]],
    ["without a client port", "BAD_ARGUMENTS", ["server.4=h4:2004:3004"]],
    ["at the place of another server", "BAD_ARGUMENTS", ["server.4=h1:2001:3004:participant;4004"]],
    ["with a number that no server has", "BAD_ARGUMENTS", ["server.999=h4:2004:3004;4004"]],
    ["with the number that belongs to TTL nodes", "BAD_ARGUMENTS", ["server.255=h4:2004:3004;4004"]],
    ["that names no server", "BAD_ARGUMENTS", ["h4:2004:3004"]],
    ["that is longer than 32 KiB", "BAD_ARGUMENTS", [line(4), null, line(4).padEnd(32 * 1024)]],
    [
      "of blanks and a carriage return",
      "BAD_ARGUMENTS",
      [null, null, `server.1=${" ".repeat(8000)}x${" ".repeat(8000)}\rx`],
    ],
    ["to a server that is no number", "MARSHALLING_ERROR", [null, "two"]],
    ["to servers that do not follow", "NEW_CONFIG_NO_QUORUM", [[line(8), missing].join(), "2,3"]],
  ] as [string, string, Parameters<typeof reconfig>][])("%s", (_, code, of) => {
    const ensemble = ensembleOf(3, 1);
    expect(change(ensemble, ...of)).toContain(code);
    expect(votersOf(ensemble, 1)).toBe("1,2,3");
  });

  test("while another one is under way", () => {
    const ensemble = ensembleOf(3, 2);
    const { leader } = ensemble;
    const ref = leader.open();
    leader.send(ref, 1, OpCode.RECONFIG, reconfig(line(4)));
    leader.send(ref, 2, OpCode.RECONFIG, reconfig(line(5)));
    ensemble.run();
    expect(leader.take(ref).map((answer) => answer.slice(0, 40))).toEqual([
      expect.stringContaining("1 data"),
      expect.stringContaining("RECONFIG_IN_PROGRESS"),
    ]);
  });

  test("while the feature level is being raised, and the level while members change", () => {
    const ensemble = ensembleOf(3, 1);
    for (const member of ensemble.members) ensemble.upgrade(member, 2);
    ensemble.advance(1000);
    const { leader } = ensemble;
    const ref = leader.open();
    leader.send(ref, 1, OpCode.RECONFIG, reconfig(line(4)));
    expect(leader.replica.raiseLevel()).toEqual({ kind: "busy" });
    ensemble.run();
    expect([votersOf(ensemble, 1), leader.replica.zab.level]).toEqual(["1,2,3,4", 1]);
    expect(leader.replica.raiseLevel()).toEqual({ kind: "proposed", level: 2, from: 1 });
    leader.send(ref, 2, OpCode.RECONFIG, reconfig(null, "4"));
    ensemble.run();
    expect([votersOf(ensemble, 1), leader.replica.zab.level]).toEqual(["1,2,3,4", 2]);
    expect(leader.take(ref).map((answer) => answer.split(" ")[1])).toEqual(["data", "RECONFIG_IN_PROGRESS"]);
    expect(change(ensemble, null, "4")).not.toContain("server.4");
  });

  test("without the permission to write the configuration, and where it is switched off", () => {
    const members = membersWith(1, 2, 3);
    const strict = new TestEnsemble(3, { members }, { isReconfigEnabled: true });
    expect(change(strict, null, "2")).toContain("NO_AUTH");
    expect(change(strict, "server.999=h4:2004:3004;4004")).toContain("NO_AUTH");
    expect(change(strict, "server.4=h4:2004:3004")).toContain("NO_AUTH");
    expect(change(strict, null, null, `server.1=${" ".repeat(500_000)}x${" ".repeat(500_000)}\rx`)).toContain(
      "NO_AUTH",
    );
    const off = new TestEnsemble(3, { members });
    expect(change(off, null, "2")).toContain("RECONFIG_DISABLED");
  });
});

test("a client that may write the configuration's node shows a text of its own, which changes no member", () => {
  const ensemble = ensembleOf(3);
  const { leader } = ensemble;
  leader.ask(leader.open(), OpCode.SET_DATA, setData("/zookeeper/config", "server.9=x:1:2"));
  expect(votersOf(ensemble, 1)).toBe("1,2,3");
});
