import { type ClientAccess, membersOf, OpCode, serverId, ZXID_NONE } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create } from "./testing/requests.ts";

// An ensemble whose configuration keeps clients out until an operator opens it.

function ensembleWith(clients: ClientAccess): TestEnsemble {
  const servers = [1, 2, 3].map((sid) => ({
    sid: serverId(sid),
    host: `h${sid}`,
    quorumPort: 2000 + sid,
    electionPort: 3000 + sid,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
  }));
  const members = membersOf(servers, ZXID_NONE, { clients });
  return new TestEnsemble(3, { members }, { levels: versionWith(1) });
}

const access = ({ replica }: TestMember): boolean => replica.zab.members.areClientsClosed;

function open(ensemble: TestEnsemble): void {
  expect(ensemble.leader.replica.openClients()).toBe("proposed");
  ensemble.advance(TEST_TICK_MS);
}

test("no server opens a session while clients are closed, and each does once that is committed", () => {
  const ensemble = ensembleWith("closed");
  expect(ensemble.members.map(access)).toEqual([true, true, true]);
  for (const member of ensemble.members) {
    const ref = member.connect();
    ensemble.advance(TEST_TICK_MS);
    expect([member.take(ref), member.replica.tree.sessionCount]).toEqual([["close"], 0]);
  }
  open(ensemble);
  expect(ensemble.members.map(access)).toEqual([false, false, false]);
  for (const member of ensemble.members)
    expect(member.ask(member.open(), OpCode.CREATE, create(`/of-${member.sid}`))).toBe(`path /of-${member.sid}`);
});

test("clients stay out while the opening is logged and not committed", () => {
  const ensemble = ensembleWith("closed");
  const { leader } = ensemble;
  const followers = [...ensemble.followers];
  for (const follower of followers) ensemble.cutOff(follower);
  expect(leader.replica.openClients()).toBe("proposed");
  ensemble.run();
  expect([leader.replica.zab.members.lastSeen?.clients, access(leader)]).toEqual(["open", true]);
  for (const follower of followers) ensemble.rejoin(follower);
  ensemble.advance(5000);
  expect(new Set(ensemble.members.map(access)).size).toBe(1);
});

test("an open ensemble says so, and a server that does not lead opens nothing", () => {
  const closed = ensembleWith("closed");
  const [follower] = closed.followers;
  expect(follower?.replica.openClients()).toBe("not-leading");
  expect(closed.leader.replica.openClients()).toBe("proposed");
  expect(closed.leader.replica.openClients()).toBe("busy");
  closed.advance(TEST_TICK_MS);
  expect(closed.leader.replica.openClients()).toBe("open");
  expect(ensembleWith("open").leader.replica.openClients()).toBe("open");
});
