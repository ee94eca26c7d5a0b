import { parseMembers, serverId } from "@zooid/model";
import { beforeEach, describe, expect, test } from "vitest";
import { TestPeers } from "../testing/peers.ts";
import { MemberDirectory } from "./member-directory.ts";
import { Reachability } from "./reachability.ts";

const [TWO, THREE, FOUR] = [serverId(2), serverId(3), serverId(4)];
let lines: string[];
let isLooking: boolean;
let nowMs: number;
let reachability: Reachability;

beforeEach(() => {
  lines = [];
  isLooking = true;
  nowMs = 0;
  const peers = new TestPeers(4, [4]);
  peers.place(2, { host: "zk-2", electionPort: 3888 });
  peers.place(3, { host: "fd00::3", electionPort: 3888 });
  reachability = new Reachability({
    ensemble: peers.options(1).ensemble,
    isLooking: () => isLooking,
    info: (text) => lines.push(`info: ${text}`),
    warn: (text) => lines.push(`warn: ${text}`),
    nowMs: () => nowMs,
  });
});

describe("a server that looks for a leader", () => {
  test("logs each server that it cannot reach once, and a summary when every voter was tried", () => {
    reachability.failed(TWO, "getaddrinfo ENOTFOUND zk-2");
    reachability.failed(TWO, "getaddrinfo ENOTFOUND zk-2");
    reachability.failed(THREE, "connect ECONNREFUSED fd00::3:3888");
    expect(lines).toEqual([
      "warn: server 2 at zk-2:3888 is unreachable: getaddrinfo ENOTFOUND zk-2",
      "warn: server 3 at [fd00::3]:3888 is unreachable: connect ECONNREFUSED fd00::3:3888",
      "warn: LOOKING for a leader: 1 of 3 voters reachable; server 2 at zk-2:3888: getaddrinfo ENOTFOUND zk-2; " +
        "server 3 at [fd00::3]:3888: connect ECONNREFUSED fd00::3:3888",
    ]);
  });

  test("repeats the summary with the newest reasons", () => {
    reachability.connected(THREE);
    reachability.failed(TWO, "connecting took too long");
    reachability.failed(TWO, "connect EHOSTUNREACH");
    reachability.summarize();
    expect(lines.at(-1)).toBe(
      "warn: LOOKING for a leader: 2 of 3 voters reachable; server 2 at zk-2:3888: connect EHOSTUNREACH",
    );
  });

  test("needs no summary where all voters are connected", () => {
    reachability.connected(TWO);
    reachability.connected(THREE);
    expect(lines).toEqual([]);
  });

  test("logs nothing of a connection that a newer one replaces, and what becomes of that one", () => {
    reachability.connected(TWO);
    reachability.replaced(TWO);
    expect(reachability.summary).toContain("server 2 at zk-2:3888: a newer connection replaces the one before");
    expect(lines).toEqual([]);
    reachability.connected(TWO);
    expect(lines).toEqual([]);
    reachability.replaced(TWO);
    reachability.failed(TWO, "connect EHOSTUNREACH");
    expect(lines).toEqual(["warn: server 2 at zk-2:3888 is unreachable: connect EHOSTUNREACH"]);
  });

  test("logs a server that it reaches again", () => {
    reachability.failed(TWO, "the connection was closed");
    reachability.connected(TWO);
    expect(lines).toEqual([
      "warn: server 2 at zk-2:3888 is unreachable: the connection was closed",
      "info: server 2 at zk-2:3888 is reachable",
    ]);
  });
});

test("a refusal is logged when it comes, when its reason changes, and once a minute", () => {
  isLooking = false;
  reachability.failed(TWO, "connect ECONNREFUSED");
  reachability.failed(TWO, "refused by the other side: no secret", true);
  nowMs = 59_000;
  reachability.failed(TWO, "refused by the other side: no secret", true);
  reachability.failed(TWO, "refused by the other side: another secret", true);
  nowMs = 119_000;
  reachability.failed(TWO, "refused by the other side: another secret", true);
  const line = (reason: string): string => `warn: server 2 at zk-2:3888 is unreachable: ${reason}`;
  expect(lines).toEqual([
    line("connect ECONNREFUSED"),
    line("refused by the other side: no secret"),
    line("refused by the other side: another secret"),
    line("refused by the other side: another secret"),
  ]);
});

test("a server that was connected before it was listed is connected when it is", () => {
  const { ensemble } = new TestPeers(3).options(1);
  const { directory } = ensemble;
  const joined = new Reachability({ ensemble, isLooking: () => false, info: () => {}, warn: () => {} });
  const stateOf = (sid: number) => joined.peers.find((peer) => peer.sid === sid)?.isConnected;
  for (const sid of [FOUR, serverId(5)]) joined.connected(sid);
  joined.failed(serverId(5), "the connection was closed");
  const line = (sid: number): string => `server.${sid}=h${sid}:2888:3888`;
  directory.update([parseMembers([1, 2, 3, 4, 5].map(line).join("\n"))]);
  joined.membersChanged();
  expect([stateOf(4), stateOf(5)]).toEqual([true, false]);
});

test("a server with a leader logs no summary", () => {
  isLooking = false;
  reachability.failed(TWO, "connect ECONNREFUSED");
  reachability.failed(THREE, "connect ECONNREFUSED");
  reachability.summarize();
  expect(lines).toHaveLength(2);
});

test("an observer that is not connected is listed and not counted among the voters", () => {
  reachability.connected(TWO);
  reachability.connected(THREE);
  expect(reachability.summary).toBe("3 of 3 voters reachable");
  expect(reachability.peers.map(({ sid, isConnected }) => [sid, isConnected])).toEqual([
    [TWO, true],
    [THREE, true],
    [FOUR, false],
  ]);
});

const EVENTS = ["connected", "lost", "refused", "listed", "removed", "moved"] as const;

/** Three events reach each state of a server, and the last one is each event in it. */
function sequences(length: number): readonly (readonly (typeof EVENTS)[number][])[] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((before) => EVENTS.map((event) => [...before, event]));
}

test("after each sequence of connections, refusals and configurations: the server's state, its address, and its last line", () => {
  const { servers } = parseMembers("server.1=h1:2888:3888");
  const directory = new MemberDirectory({
    sid: serverId(1),
    servers,
    observerMasterPort: undefined,
    addressOf: undefined,
  });
  const ensemble = new TestPeers(1).options(1, { config: { directory } }).ensemble;
  const files = [1, 2, 3].map((sid) => `server.${sid}=h${sid}:2888:3888`);
  const list = (host: string | undefined): void => {
    const joining = host === undefined ? [] : [`server.4=${host}:2888:3888`];
    directory.update([parseMembers([...files, ...joining].join("\n"))]);
  };
  const wrong: string[] = [];
  for (const events of sequences(4)) {
    list(undefined);
    let last: string | undefined;
    const note = (text: string): void => {
      last = text;
    };
    const joined = new Reachability({ ensemble, isLooking: () => false, info: note, warn: note, nowMs: () => 0 });
    let isConnected = false;
    let host: string | undefined;
    for (const event of events) {
      if (event === "connected") joined.connected(FOUR);
      else if (event === "lost") joined.failed(FOUR, "lost");
      else if (event === "refused") joined.failed(FOUR, "refused", true);
      else {
        if (event === "removed") last = undefined;
        host = event === "removed" ? undefined : event === "moved" ? "moved" : "h4";
        list(host);
        joined.membersChanged();
      }
      if (event === "connected") isConnected = true;
      else if (event === "lost" || event === "refused") isConnected = false;
      const peer = joined.peers.find(({ sid }) => sid === FOUR);
      const shown = peer && `${peer.isConnected} ${peer.address}`;
      const expected = host === undefined ? undefined : `${isConnected} ${host}:3888`;
      if (shown !== expected) wrong.push(`${events} at ${event}: ${shown} in place of ${expected}`);
      if (!isTrue(last, { event, isConnected, isListed: host !== undefined }))
        wrong.push(`${events} at ${event}: the last line is ${last}`);
    }
  }
  expect(wrong).toEqual([]);
});

/** A server that is not listed has no line. */
function isTrue(
  last: string | undefined,
  {
    event,
    isConnected,
    isListed,
  }: { readonly event: string; readonly isConnected: boolean; readonly isListed: boolean },
): boolean {
  const isFailure = event === "lost" || event === "refused";
  if (last === undefined) return !isListed || !isFailure;
  if (!isListed) return false;
  if (event === "refused" && !last.endsWith("refused")) return false;
  return last.includes("unreachable") === !isConnected;
}
