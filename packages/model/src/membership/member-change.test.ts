import { describe, expect, test } from "vitest";
import { parseConfiguration } from "./configuration.ts";
import { joinerSettings } from "./joiner-settings.ts";
import {
  type PlannedChange,
  parseNamedServer,
  plannedAdd,
  plannedRemove,
  plannedReplacement,
  plannedRole,
} from "./member-change.ts";
import { memberLines } from "./members.ts";
import { serverId } from "./server-id.ts";

const [one, two, three, four] = [1, 2, 3, 4].map(serverId) as [never, never, never, never];
const FOUR = parseNamedServer("4=d:2888:3888;2181");

const configuration = parseConfiguration(
  [
    "server.1=a:2888:3888|a2:2888:3888:participant;2181",
    "server.2=b:2888:3888:participant;0.0.0.0:2181",
    "server.3=c:2888:3888:observer;0.0.0.0:2181",
    "version=100000000",
  ].join("\n"),
);

function request({ joining, leaving }: PlannedChange): readonly unknown[] {
  return [joining, leaving];
}

test("a server joins as a voter, or as the observer that its line names", () => {
  const change = plannedAdd(configuration, FOUR);
  expect(request(change)).toEqual([["server.4=d:2888:3888;2181"], []]);
  expect([...change.next.verifier.voters]).toEqual([1, 2, 4]);
  const observer = plannedAdd(configuration, parseNamedServer("server.4=d:2888:3888:observer;2181"));
  expect(observer.next.verifier.voters.size).toBe(2);
});

test("a changed vote keeps all addresses of a line", () => {
  expect(request(plannedRole(configuration, one, "observer"))).toEqual([
    ["server.1=a:2888:3888|a2:2888:3888:observer;2181"],
    [],
  ]);
  expect(request(plannedRole(configuration, three, "participant"))).toEqual([
    ["server.3=c:2888:3888:participant;0.0.0.0:2181"],
    [],
  ]);
});

test("a replacement joins as an observer, and takes the vote in the change in which the other server leaves", () => {
  const { joins, exchange } = plannedReplacement(configuration, two, FOUR);
  expect(joins && request(joins)).toEqual([["server.4=d:2888:3888:observer;2181"], []]);
  expect(request(exchange)).toEqual([["server.4=d:2888:3888:participant;2181"], [2]]);
  expect([...exchange.next.verifier.voters]).toEqual([1, 4]);
});

test("a replacement that has joined in an earlier attempt only takes the place", () => {
  const { joins } = plannedReplacement(configuration, two, FOUR);
  const joined = parseConfiguration([...memberLines(joins?.next.servers ?? []), "version=100000001"].join("\n"));
  const again = plannedReplacement(joined, two, FOUR);
  expect(again.joins).toBeUndefined();
  expect(request(again.exchange)).toEqual([["server.4=d:2888:3888:participant;2181"], [2]]);
});

test("an observer is replaced by an observer", () => {
  const { exchange } = plannedReplacement(configuration, three, FOUR);
  expect(request(exchange)).toEqual([["server.4=d:2888:3888:observer;2181"], [3]]);
});

test("a joiner's zoo.cfg lists all members, and itself without a vote", () => {
  expect(joinerSettings(configuration, FOUR).filter((line) => line.startsWith("server."))).toEqual([
    "server.1=a:2888:3888|a2:2888:3888:participant;2181",
    "server.2=b:2888:3888:participant;0.0.0.0:2181",
    "server.3=c:2888:3888:observer;0.0.0.0:2181",
    "server.4=d:2888:3888:observer;2181",
  ]);
});

test("a joiner's zoo.cfg allows one voter, where there is only one", () => {
  const alone = parseConfiguration("server.1=a:1:2;3\nserver.3=c:1:2:observer;3\nversion=1");
  expect(joinerSettings(alone, FOUR)).toContain("standaloneEnabled=false");
  expect(joinerSettings(configuration, FOUR)).not.toContain("standaloneEnabled=false");
});

describe("refused is", () => {
  const alone = parseConfiguration("server.1=a:1:2;3\nserver.3=c:1:2:observer;3\nversion=1");
  const grouped = parseConfiguration("server.1=a:1:2;3\nserver.2=b:1:2;3\ngroup.1=1\ngroup.2=2\nversion=1");
  test.each<[string, string, () => unknown]>([
    ["a member that is added", "MEMBER_ALREADY", () => plannedAdd(configuration, parseNamedServer("3=d:1:2;3"))],
    ["an address of another member", "LINES", () => plannedAdd(configuration, parseNamedServer("4=b:1:2888;3"))],
    ["a line without a client port", "LINES", () => plannedAdd(configuration, parseNamedServer("4=d:1:2"))],
    ["two servers in one word", "SERVER_NAME", () => parseNamedServer("4=d:1:2;3,server.5=e:1:2;3")],
    ["a number that no server may have", "SERVER_NAME", () => parseNamedServer("255=d:1:2;3")],
    ["a server that is no member", "NOT_A_MEMBER", () => plannedRemove(configuration, four)],
    ["a vote for a voter", "ROLE_ALREADY", () => plannedRole(configuration, one, "participant")],
    ["no vote for an observer", "ROLE_ALREADY", () => plannedRole(configuration, three, "observer")],
    ["the last voter's end", "NO_VOTER_LEFT", () => plannedRemove(alone, one)],
    ["the last vote's end", "NO_VOTER_LEFT", () => plannedRole(alone, one, "observer")],
    ["a change among groups", "VOTERS_HAVE_GROUPS", () => plannedRemove(grouped, one)],
    [
      "a replacement alone",
      "REPLACEMENT_BY_ITSELF",
      () => plannedReplacement(configuration, two, parseNamedServer("2=d:1:2;3")),
    ],
    [
      "a replacement by a voter",
      "REPLACEMENT_IS_MEMBER",
      () => plannedReplacement(configuration, two, parseNamedServer("1=d:1:2;3")),
    ],
    ["a text that is no configuration", "NO_CONFIGURATION", () => parseConfiguration("hello")],
    ["the text of a server alone", "NO_ENSEMBLE", () => parseConfiguration("")],
  ])("%s", (_, rule, act) => {
    expect(act).toThrow(expect.objectContaining({ rule }));
  });
});
