import { describe, expect, test } from "vitest";
import { composeZxid, ZXID_NONE } from "../protocol/zxid.ts";
import { type Member, membersOf, membersText } from "./members.ts";
import { CONFIGURATION_CHARS_MAX, changedMembers, parseMembers, ServerNumberError } from "./members-text.ts";
import { serverId } from "./server-id.ts";

function at(sid: number, host: string, more: Partial<Member> = {}): Member {
  return {
    sid: serverId(sid),
    host,
    quorumPort: 2888,
    electionPort: 3888,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
    ...more,
  };
}

const textOf = (servers: readonly Member[]): string[] => membersText(membersOf(servers, ZXID_NONE)).split("\n");

test("servers are listed by their ids, as Apache writes them", () => {
  const servers = [
    at(2, "zk2.example", { isObserver: true }),
    at(1, "127.0.0.1", { clientAddress: { host: undefined, port: 2181 } }),
    at(3, "fd00::3", { clientAddress: { host: "::1", port: 2183 } }),
  ];
  expect(textOf(servers)).toEqual([
    "server.1=127.0.0.1:2888:3888:participant;0.0.0.0:2181",
    "server.2=zk2.example:2888:3888:observer",
    "server.3=[fd00::3]:2888:3888:participant;[::1]:2183",
    "version=0",
  ]);
});

test("groups follow with the weights of all that are in them", () => {
  const servers = [at(1, "a", { group: 7 }), at(2, "b", { group: 3, weight: 0 }), at(3, "c", { group: 7 })];
  const all = [...servers, at(4, "d", { isObserver: true })];
  expect(textOf(all).slice(4)).toEqual([
    "group.3=2",
    "group.7=1:3",
    "weight.1=1",
    "weight.2=0",
    "weight.3=1",
    "version=0",
  ]);
});

test("a text is read back as the configuration that it was made of", () => {
  const servers = [
    at(0, "a", { group: 1, clientAddress: { host: "0.0.0.0", port: 2181 } }),
    at(1, "fd00::3", { group: 2, weight: 3 }),
    at(254, "c", { isObserver: true }),
  ];
  const text = membersText(membersOf(servers, composeZxid(3, 9)));
  const members = parseMembers(text);
  expect(membersText(members)).toBe(text);
  expect([members.version, members.servers]).toEqual([composeZxid(3, 9), servers]);
});

test("a text names disks, which no line of a server has", () => {
  const disks = new Map([
    [serverId(3), "b3"],
    [serverId(1), "0a"],
  ]);
  const text = membersText(membersOf([at(1, "a"), at(3, "c")], composeZxid(3, 9), { disks }));
  expect(text.split("\n").slice(2)).toEqual(["#disk.1=0a", "#disk.3=b3", "version=300000009"]);
  expect([...parseMembers(text).disks]).toEqual([...disks].sort());
});

test.each(["#disk.=a", "#disk.x=a", "#disk.255=a", "#disk.1=", "#disk.1=A", "#disk.1=a b"])(
  "%s is no line of a disk",
  (line) => {
    expect(() => parseMembers(`server.1=h:1:2\n${line}`)).toThrow(RangeError);
  },
);

test("other comments are skipped", () => {
  expect(parseMembers("# ours\nserver.1=h:1:2\n#").servers).toHaveLength(1);
});

test.each(["#disk.1=b", "#disk.x", "# ours"])("a client's change names no disks: %s", (comment) => {
  const current = membersOf([at(1, "a")], ZXID_NONE, { disks: new Map([[serverId(1), "a"]]) });
  const members = `server.1=a:2888:3888;2181,${comment}`;
  expect(changedMembers(current, { kind: "bulk", members }, composeZxid(1, 7)).disks.size).toBe(0);
});

test("a text that is longer than a znode is by default is refused unread", () => {
  const line = "server.1=h:1:2;3\n";
  const longest = line.repeat(Math.floor(CONFIGURATION_CHARS_MAX / line.length));
  expect(() => parseMembers(longest)).toThrow("server.1");
  expect(() => parseMembers(longest + line)).toThrow(`at most ${CONFIGURATION_CHARS_MAX} characters`);
});

describe("a change", () => {
  const current = membersOf([at(1, "a"), at(2, "b"), at(3, "c")], ZXID_NONE);
  const version = composeZxid(1, 7);

  test("adds servers, moves them and removes them", () => {
    const joining = "server.4=d:2888:3888;2181, server.3=c2:2888:3888:observer;2181";
    const members = changedMembers(current, { kind: "incremental", joining, leaving: "2,9" }, version);
    expect(membersText(members)).toBe(
      [
        "server.1=a:2888:3888:participant",
        "server.3=c2:2888:3888:observer;0.0.0.0:2181",
        "server.4=d:2888:3888:participant;0.0.0.0:2181",
        "version=100000007",
      ].join("\n"),
    );
  });

  test("names joining servers by their numbers too, as zkCli's usage text does", () => {
    const joining = "4=d:2888:3888;2181,any.name.5 = e:2888:3888:observer;2181";
    const members = changedMembers(current, { kind: "incremental", joining, leaving: "1,2,3" }, version);
    expect(textOf(members.servers).slice(0, -1)).toEqual([
      "server.4=d:2888:3888:participant;0.0.0.0:2181",
      "server.5=e:2888:3888:observer;0.0.0.0:2181",
    ]);
  });

  test.each([
    ["a leaving server that is no number", { joining: undefined, leaving: "x" }],
    ["a leaving server by its line's name", { joining: undefined, leaving: "server.2" }],
    ["a joining server without a number", { joining: "x=d:2888:3888;2181", leaving: undefined }],
    ["a joining server with an empty number", { joining: "server.=d:2888:3888;2181", leaving: undefined }],
  ])("with %s is an error about numbers", (_, change) => {
    expect(() => changedMembers(current, { kind: "incremental", ...change }, version)).toThrow(ServerNumberError);
  });

  test.each([
    ["no value", "server.4=", "server.N"],
    ["two values", "4=5=d:2888:3888;2181", "server.N"],
    ["a number that no server has", "255=d:2888:3888;2181", "0 to 254"],
    ["no client port", "4=d:2888:3888", "client port"],
  ])("with a joining line that has %s is refused", (_, joining, reason) => {
    expect(() => changedMembers(current, { kind: "incremental", joining, leaving: undefined }, version)).toThrow(
      reason,
    );
  });

  test("names all members, with groups and weights", () => {
    const members = "server.1=a:1:2,server.2=b:1:2,group.1=1:2,weight.2=3,version=5";
    const next = changedMembers(current, { kind: "bulk", members }, version);
    expect(next.verifier.isQuorum([serverId(2)])).toBe(true);
    expect([next.version, next.servers.length]).toEqual([version, 2]);
  });

  test.each([
    ["a line that is none", "server.4", "begins with server.N"],
    ["another setting", "tickTime=2000", "begins with server.N"],
    ["a number that no server has", "server.255=a:1:2", "0 to 254"],
    ["a port that there is not", "server.4=d:1:70000", "70000"],
    ["a server twice", "server.4=d:1:2,server.4=e:1:2", "twice"],
    ["a server in two groups", "server.4=d:1:2,group.1=4,group.2=4", "two groups"],
    ["a group of a server that is not listed", "server.4=d:1:2,group.1=4:5", "server 5"],
    ["a voter without a group", "server.4=d:1:2,server.5=e:1:2,group.1=4", "server.5 is in no group"],
    ["weights that are all 0", "server.4=d:1:2,group.1=4,weight.4=0", "weight 0"],
    ["a weight below 0", "server.4=d:1:2,group.1=4,weight.4=-1", "weight.4"],
    ["one place for two servers", "server.4=d:1:2,server.5=D:2:1", "server.5"],
  ])("with %s is refused", (_, members, reason) => {
    expect(() => changedMembers(current, { kind: "bulk", members }, version)).toThrow(reason);
  });

  test("of single servers is refused where there are groups", () => {
    const grouped = membersOf([at(1, "a", { group: 1 })], ZXID_NONE);
    const leaving = { kind: "incremental", joining: undefined, leaving: "1" } as const;
    expect(() => changedMembers(grouped, leaving, version)).toThrow("groups");
  });
});

test("that clients are closed is read back, stays through changes, and no client's list says it", () => {
  const closed = membersOf([at(1, "a"), at(2, "b")], composeZxid(1, 0), { clients: "closed" });
  const read = parseMembers(membersText(closed));
  const readBack = (["open", "closed", "closed-again"] as const).map(
    (clients) => parseMembers(membersText({ ...closed, clients })).clients,
  );
  expect(readBack).toEqual(["open", "closed", "closed-again"]);
  const joined = changedMembers(
    read,
    { kind: "incremental", joining: "server.3=c:2888:3888;2181", leaving: undefined },
    composeZxid(1, 5),
  );
  expect(joined.clients).toBe("closed");
  const text = `server.1=a:2888:3888;2181\n#clients=closed`;
  expect(
    changedMembers({ ...closed, clients: "open" }, { kind: "bulk", members: text }, composeZxid(1, 6)).clients,
  ).toBe("open");
});
