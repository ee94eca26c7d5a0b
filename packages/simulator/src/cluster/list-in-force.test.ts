import {
  ErrorCode,
  MajorityQuorum,
  type Members,
  membersText,
  parseMembers,
  type ServerId,
  serverId,
  ZXID_NONE,
} from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import { describe, expect, test } from "vitest";
import { memberLine } from "../seeds/draw-plan.ts";
import { Cluster } from "./cluster.ts";

/**
 * Without `reconfigEnabled` operators edit the servers' files and restart them; the list in force
 * is data.
 */

const [S1, S2, S3, S4, S5] = [1, 2, 3, 4, 5].map(serverId) as [ServerId, ServerId, ServerId, ServerId, ServerId];
const ALL: readonly ServerId[] = [S1, S2, S3, S4, S5];

function listOf(...voters: readonly ServerId[]): Members {
  return parseMembers(voters.map((sid) => memberLine(sid, false)).join("\n"));
}

/** Servers 1, 2 and 3 are an ensemble. */
class Edited {
  readonly files = new Map<ServerId, Members>();
  /** Servers of version 0.1.0: they count by the list 1, 2, 3. */
  readonly earlier = new Set<ServerId>();
  readonly withReconfig = new Set<ServerId>();
  readonly cluster: Cluster;
  readonly events: ReplicaEvent[] = [];

  constructor(prepare: (edited: Edited) => void = () => {}) {
    const three = listOf(S1, S2, S3);
    prepare(this);
    this.cluster = new Cluster({
      voters: [S1, S2, S3],
      observers: [S4, S5],
      serverOptions: (sid) =>
        this.earlier.has(sid)
          ? { verifier: new MajorityQuorum([S1, S2, S3]) }
          : {
              ensemble: { members: this.files.get(sid) ?? three },
              takesMembersFromFiles: !this.withReconfig.has(sid),
            },
      watcher: { noted: (_, event) => void this.events.push(event) },
    });
    for (const sid of [S1, S2, S3]) this.cluster.start(sid);
    this.cluster.run(5000);
  }

  /** An operator gives servers a list, and restarts them one after another. */
  edit(list: Members, ...sids: readonly ServerId[]): void {
    for (const sid of sids) {
      this.files.set(sid, list);
      this.restart(sid);
    }
  }

  restart(sid: ServerId): void {
    if (this.cluster.server(sid) !== undefined) this.cluster.crash(sid);
    this.cluster.start(sid);
    this.cluster.run(3000);
  }

  /** The voters of the list in force, by server; `files` where none was agreed on. */
  get inForce(): readonly string[] {
    return this.cluster.running().map(({ replica }) => {
      const { committed } = replica.zab.members;
      if (committed === undefined || committed.version === ZXID_NONE) return "files";
      return [...committed.verifier.voters].join("");
    });
  }

  get roles(): string {
    return this.cluster
      .running()
      .map(({ sid, replica }) => `${sid} ${replica.zab.state}`)
      .join(", ");
  }

  get leader(): ServerId | undefined {
    return this.cluster.leader?.sid;
  }
}

test("a server's line is as others' files have it, where its own file has an address that means nothing elsewhere", () => {
  const own = (list: Members, sid: ServerId): Members =>
    parseMembers(membersText(list).replace(`=h${sid}:`, "=0.0.0.0:"));
  const edited = new Edited((before) => {
    for (const sid of [S1, S2, S3]) before.files.set(sid, own(listOf(S1, S2, S3), sid));
  });
  const hosts = () => edited.cluster.leader?.replica.zab.members.committed?.servers.map(({ host }) => host);
  expect(hosts()).toEqual(["h1", "h2", "h3"]);
  for (const sid of [S4, S1, S2, S3]) edited.edit(own(listOf(S1, S2, S3, S4), sid), sid);
  expect(hosts()).toEqual(["h1", "h2", "h3", "h4"]);
});

test("a list in one file changes nothing, with any leader", () => {
  const edited = new Edited();
  edited.edit(listOf(S1, S2, S3, S4, S5), S4, S5);
  edited.edit(listOf(S1, S2, S3, S4, S5), S3);
  expect(edited.inForce).toEqual(Array(5).fill("123"));
  for (const sid of [S1, S2]) edited.cluster.crash(sid, Number.POSITIVE_INFINITY);
  edited.cluster.run(10_000);
  // Three of five follow its file; they are one of three.
  expect(edited.leader).toBeUndefined();
});

test.each([
  ["the new servers first", [S4, S5, S3, S2, S1]],
  ["the new servers last", [S1, S2, S3, S4, S5]],
  ["mixed", [S3, S5, S1, S4, S2]],
])("three become five at once, %s", (_, order) => {
  const edited = new Edited();
  edited.edit(listOf(...ALL), ...order);
  expect(edited.inForce).toEqual(Array(5).fill("12345"));
  for (const sid of [S1, S2]) edited.cluster.crash(sid, Number.POSITIVE_INFINITY);
  edited.cluster.run(10_000);
  expect([S3, S4, S5]).toContain(edited.leader);
});

test("a list is proposed once it has a quorum of the one in force and of itself in the files, and not before", () => {
  const edited = new Edited();
  const four = listOf(S1, S2, S3, S4);
  edited.edit(four, S4);
  expect(edited.roles).toMatch(/4 observing/);
  edited.edit(four, S1);
  expect(edited.inForce).toEqual(Array(4).fill("123"));
  edited.edit(four, S2);
  expect(edited.inForce).toEqual(Array(4).fill("1234"));
  expect(edited.roles).toMatch(/4 (following|leading)/);
  // The last file is edited later, or never.
  expect(edited.cluster.leader?.replica.zab.wishes?.waiting).toEqual([
    expect.objectContaining({ wishers: [S3], lacking: [S1, S2, S4] }),
  ]);
});

test("a list that is not in force is reported once a minute, with the servers that lack it", () => {
  const edited = new Edited();
  edited.edit(listOf(S1, S2, S3, S4), S4, S1);
  const reports = () => edited.events.filter((event) => event.kind === "list-differs");
  edited.cluster.run(50_000);
  expect(reports()).toEqual([]);
  edited.cluster.run(70_000);
  expect(reports().map(({ wish }) => [wish.wishers, wish.lacking])).toEqual(
    Array(2).fill([
      [S1, S4],
      [S2, S3],
    ]),
  );
  edited.edit(listOf(S1, S2, S3, S4), S2, S3);
  edited.cluster.run(120_000);
  expect(reports()).toHaveLength(2);
});

test("neither a quorum of the new list nor one of the list in force is enough", () => {
  const edited = new Edited();
  edited.edit(listOf(S3, S4, S5), S4, S5, S3);
  expect(edited.inForce).toEqual(Array(5).fill("123"));
  edited.edit(listOf(...ALL), S1, S2);
  expect(edited.inForce).toEqual(Array(5).fill("123"));
  edited.edit(listOf(...ALL), S4);
  expect(edited.inForce).toEqual(Array(5).fill("12345"));
});

test("a machine is replaced while it is down", () => {
  const edited = new Edited();
  edited.cluster.crash(S3, Number.POSITIVE_INFINITY);
  edited.edit(listOf(S1, S2, S4), S4, S1, S2);
  expect(edited.inForce).toEqual(Array(3).fill("124"));
  edited.cluster.crash(S1, Number.POSITIVE_INFINITY);
  edited.cluster.run(10_000);
  expect(edited.leader).toBeDefined();
});

test("a leader that the new list does not have leads until it is in force, and transfers leadership", () => {
  const edited = new Edited();
  edited.edit(listOf(S1, S2, S3, S4), S4, S1, S2, S3);
  for (const sid of [S1, S2, S3]) edited.cluster.crash(sid, Number.POSITIVE_INFINITY);
  for (const sid of [S1, S2, S3]) edited.cluster.start(sid);
  edited.cluster.run(5000);
  const leader = edited.leader as ServerId;
  const rest = [S1, S2, S3, S4].filter((sid) => sid !== leader);
  edited.edit(listOf(...rest), ...rest);
  expect(edited.inForce).toEqual(Array(4).fill(rest.join("")));
  expect(rest).toContain(edited.leader);
  expect(edited.roles).toContain(`${leader} observing`);
});

test("two that should become one keep their list while the other one is down", () => {
  const edited = new Edited();
  edited.edit(listOf(S1, S2), S1, S2);
  expect(edited.inForce).toEqual(Array(3).fill("12"));
  edited.cluster.crash(S2, Number.POSITIVE_INFINITY);
  edited.edit(listOf(S1), S1);
  edited.cluster.run(10_000);
  expect(edited.leader).toBeUndefined();
  edited.cluster.start(S2);
  edited.cluster.run(5000);
  expect(edited.leader).toBeDefined();
});

describe("an ensemble that was of version 0.1.0", () => {
  const upgraded = (...sids: readonly ServerId[]): Edited => {
    const edited = new Edited((before) => {
      for (const sid of [S1, S2, S3]) before.earlier.add(sid);
    });
    for (const sid of sids) {
      edited.earlier.delete(sid);
      edited.restart(sid);
    }
    return edited;
  };

  test("agrees on its list once all of its servers are upgraded", () => {
    const edited = upgraded(S1, S2);
    expect(edited.inForce).toEqual(Array(3).fill("files"));
    edited.earlier.delete(S3);
    edited.restart(S3);
    expect(edited.inForce).toEqual(Array(3).fill("123"));
    edited.edit(listOf(S1, S2, S3, S4), S4, S3, S2, S1);
    expect(edited.inForce).toEqual(Array(4).fill("1234"));
  });

  test("gives no data to a server that it does not list before it has agreed on its list", () => {
    const edited = upgraded(S2, S3);
    edited.edit(listOf(S1, S2, S3, S4), S4);
    expect(edited.cluster.leader?.replica.zab.members.isChangeable).toBe(true);
    expect(edited.cluster.server(S4)?.disk.durable.currentEpoch).toBe(0);
    edited.earlier.delete(S1);
    edited.restart(S1);
    edited.cluster.run(10_000);
    expect(edited.roles).toContain("4 observing");
  });

  test("agrees on nothing while files differ", () => {
    const edited = upgraded(S1, S2);
    edited.files.set(S3, listOf(S1, S2, S3, S4, S5));
    edited.earlier.delete(S3);
    edited.restart(S3);
    expect(edited.inForce).toEqual(Array(3).fill("files"));
    edited.edit(listOf(S1, S2, S3), S3);
    expect(edited.inForce).toEqual(Array(3).fill("123"));
  });

  test("proposes no list while a server of that version is listed and follows", () => {
    const edited = upgraded(S1, S2, S3);
    edited.earlier.add(S1);
    edited.restart(S1);
    edited.edit(listOf(S1, S2, S3, S4), S4, S3, S2);
    expect(edited.leader).not.toBe(S1);
    expect(edited.inForce).toEqual(["files", "123", "123", "123"]);
    edited.earlier.delete(S1);
    edited.restart(S1);
    expect(edited.inForce).toEqual(Array(4).fill("1234"));
  });
});

describe("servers with reconfigEnabled beside others", () => {
  test("have no wish in their files, and follow the list in force", () => {
    const edited = new Edited((before) => before.withReconfig.add(S3));
    edited.edit(listOf(S1, S2, S3, S4), S4, S3, S1);
    expect(edited.inForce).toEqual(Array(4).fill("123"));
    edited.edit(listOf(S1, S2, S3, S4), S2);
    expect(edited.inForce).toEqual(Array(4).fill("1234"));
  });

  test.each([
    ["refused while those without it are a quorum of the new members", [S3], ErrorCode.RECONFIG_DISABLED],
    ["made where they are not", [S2, S3], ErrorCode.OK],
  ])("have clients' changes %s", (_, sids, code) => {
    const edited = new Edited((before) => {
      for (const sid of sids) before.withReconfig.add(sid);
    });
    const { leader } = edited.cluster;
    expect(leader?.sid).toBe(S3);
    const change = { joining: memberLine(S4, true), leaving: undefined, members: undefined, fromVersion: -1 };
    let answer: ErrorCode = ErrorCode.OPERATION_TIMEOUT;
    leader?.input(() => {
      answer = leader.replica.reconfigure(change);
    });
    expect(answer).toBe(code);
  });
});
