import { DataTree } from "@zooid/data-tree";
import {
  type ConnectionRef,
  composeZxid,
  ErrorCode,
  emptySlice,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type PeerMessage,
  SESSION_NONE,
  type SessionId,
  serverId,
  ZXID_NONE,
} from "@zooid/model";
import { describe, expect, test, vi } from "vitest";
import { SimClient } from "../clients/sim-client.ts";
import { Cluster } from "../cluster/cluster.ts";
import { DEFAULT_LIMITS } from "../cluster/limits.ts";
import { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import { History } from "../model/history.ts";
import { ModelTree } from "../model/tree.ts";
import { Checker } from "./client-answers.ts";
import { checkDigestCover } from "./digest-cover.ts";
import { EndedSessions } from "./ended-sessions.ts";
import { Reaping } from "./reaping.ts";
import { SessionOrder } from "./session-order.ts";
import { SessionInvariants } from "./sessions.ts";
import { Stamps } from "./stamps.ts";
import { Touches } from "./touches.ts";
import { checkUnanswered } from "./unanswered-reads.ts";

const SESSION = 7n as SessionId;
const PING: PeerMessage = { kind: "ping", epoch: 1, check: 0, committed: ZXID_NONE, lacksRoom: false };
const PONG: PeerMessage = { kind: "pong", epoch: 1, check: 0, applied: ZXID_NONE, touches: [], room: "enough" };

/** Three servers that serve, the leader first. */
function servers(): { readonly cluster: Cluster; readonly leader: SimServer; readonly follower: SimServer } {
  const cluster = new Cluster({ voters: [1, 2, 3].map(serverId) });
  for (const sid of cluster.sids) cluster.start(sid);
  cluster.run(3000);
  const { leader } = cluster;
  const follower = cluster.running().find((server) => server !== leader);
  if (leader === undefined || follower === undefined) throw new Error("no server leads");
  return { cluster, leader, follower };
}

function connected(cluster: Cluster, server: SimServer): ConnectionRef {
  const ref = server.accept();
  const request = { protocolVersion: 0, lastZxidSeen: ZXID_NONE, timeoutMs: 2000, sessionId: SESSION_NONE };
  server.connect(ref, { ...request, password: emptySlice(), readOnly: false });
  cluster.run(200);
  expect(server.replica.connection(ref)?.phase).toBe("open");
  return ref;
}

describe("rule G2 fires", () => {
  const set = { ...newTxnOp(), op: OpCode.SET_DATA };
  const at = (counter: number, cxid: number) => ({ session: SESSION, cxid, zxid: composeZxid(1, counter) });

  test("at a request that takes effect behind a later one of its session", () => {
    const order = new SessionOrder();
    order.committed(at(1, 5), set, 2);
    order.committed({ ...at(2, 3), session: 8n as SessionId }, set, 2);
    expect(() => order.committed(at(3, 4), set, 2)).toThrow("G2");
  });

  test("at a close that is proposed after its session was renewed, where it takes effect", () => {
    const order = new SessionOrder();
    const close = { ...newTxnOp(), op: OpCode.CLOSE_SESSION };
    order.renewed(SESSION, 3, 4);
    order.proposedClose(SESSION, { cxid: 5, zxid: composeZxid(1, 1), origin: 2 }, 3);
    order.proposedClose(SESSION, { cxid: 4, zxid: composeZxid(1, 2), origin: 2 }, 3);
    order.proposedClose(SESSION, { cxid: 4, zxid: composeZxid(1, 3), origin: 3 }, 3);
    order.committed(at(1, 5), close, 2);
    expect(() => order.committed(at(2, 4), close, 2)).toThrow("another server");
    order.committed(at(3, 5), close, 2);
  });

  test("not at a close behind an earlier renewal that came late, too", () => {
    const order = new SessionOrder();
    order.renewed(SESSION, 3, 4);
    order.proposedClose(SESSION, { cxid: 4, zxid: composeZxid(1, 1), origin: 2 }, 2);
    order.committed(at(1, 4), { ...newTxnOp(), op: OpCode.CLOSE_SESSION }, 2);
  });

  test("not at one that is refused because its session has moved, nor at one of the leader", () => {
    const order = new SessionOrder();
    order.committed(at(1, 5), set, 2);
    order.committed(at(2, 4), { ...newTxnOp(), op: OpCode.ERROR, code: ErrorCode.SESSION_MOVED }, 2);
    order.committed(at(3, 0), set, 2);
    order.committed(at(4, 6), set, 2);
  });

  test("not at one that its client gave up at the server that has the session again", () => {
    const order = new SessionOrder();
    order.renewed(SESSION, 2, 5);
    order.committed(at(1, 5), set, 3);
    order.committed(at(2, 4), set, 2);
    expect(() => order.committed(at(3, 4), set, 3)).toThrow("G2");
  });
});

test("rule T1 fires at a time that falls within an epoch, not between epochs", () => {
  const stamps = new Stamps();
  stamps.committed({ zxid: composeZxid(1, 1), timeMs: 20 });
  stamps.committed({ zxid: composeZxid(2, 1), timeMs: 10 });
  expect(() => stamps.committed({ zxid: composeZxid(2, 2), timeMs: 9 })).toThrow("T1");
});

describe("rule L6", () => {
  const touched = (pause: (touches: Touches, follower: SimServer, cluster: Cluster) => void = () => {}) => {
    const { cluster, leader, follower } = servers();
    const touches = new Touches();
    touches.negotiated(SESSION, 2000);
    touches.heard(follower, SESSION);
    pause(touches, follower, cluster);
    touches.received(follower, PING, cluster.nowMs);
    const pong = { ...PONG };
    touches.sent(follower, pong);
    touches.stepped(follower);
    touches.received(leader, pong, cluster.nowMs);
    return { touches, leader, nowMs: cluster.nowMs };
  };

  test("fires at an expiry within the timeout after a pong of a server that heard from the client", () => {
    const { touches, leader, nowMs } = touched();
    expect(() => touches.expired(leader, SESSION, nowMs + 1999)).toThrow("L6");
    touches.expired(leader, SESSION, nowMs + 2000);
  });

  test("does not fire where the server did not serve any more when it sent the pong", () => {
    const { touches, leader, nowMs } = touched((each, follower, cluster) => {
      cluster.crash(follower.sid);
      each.stepped(follower);
    });
    touches.expired(leader, SESSION, nowMs + 1);
  });

  const sendUnasked = (touches: Touches, leader: SimServer, follower: SimServer, nowMs: number): void => {
    const pong = { ...PONG };
    touches.sent(follower, pong);
    touches.stepped(follower);
    touches.received(leader, pong, nowMs);
  };

  test("does not fire after a pong that answers no ping, also not where an earlier ping was not answered", () => {
    const { cluster, leader, follower } = servers();
    const touches = new Touches();
    touches.negotiated(SESSION, 2000);
    touches.heard(follower, SESSION);
    touches.received(follower, PING, cluster.nowMs);
    touches.stepped(follower);
    sendUnasked(touches, leader, follower, cluster.nowMs);
    touches.expired(leader, SESSION, cluster.nowMs + 1);
  });

  test("fires after the answer to a ping behind a pong that answers none", () => {
    const { touches, leader, nowMs } = touched((each, follower, { leader, nowMs }) => {
      if (leader !== undefined) sendUnasked(each, leader, follower, nowMs);
    });
    expect(() => touches.expired(leader, SESSION, nowMs + 1999)).toThrow("L6");
  });

  test("does not fire where a deposed leader continues an end beside its successor", () => {
    const { leader, follower } = servers();
    const checks = new SessionInvariants();
    const close = { ...newTxnHeader(), sessionLow: Number(SESSION), op: OpCode.CLOSE_SESSION };
    checks.touches.negotiated(SESSION, 2000);
    checks.touches.heard(follower, SESSION);
    checks.received(follower, PING);
    const pong = { ...PONG };
    checks.touches.sent(follower, pong);
    checks.received(leader, pong);
    checks.proposed(leader, { ...close, cxid: 5 });
    checks.proposed(follower, close);
    checks.proposed(leader, close);
  });
});

test("rule C10 fires at a renewal with a wrong password, not at its refusal", () => {
  const { cluster, follower } = servers();
  const client = new SimClient("c1", new Prng(1), { address: "127.0.0.1" });
  const times = { openedMs: 0, openedZxid: 0, arrivesMs: 0, arrivedMs: 0 };
  const connection = { server: follower, ref: connected(cluster, follower), isReady: false, isSilent: false };
  const isLingering = false;
  client.connection = { ...connection, ...times, isLingering, hasWrongPassword: true };
  const checker = new Checker(new History(DEFAULT_LIMITS));
  const answer = { kind: "connected", session: SESSION, password: "" } as const;
  checker.connected(client, { ...answer, timeoutMs: 0 }, false);
  expect(() => checker.connected(client, { ...answer, timeoutMs: 2000 }, false)).toThrow("C10");
});

test("rule E2 fires at a digest that access lists do not change", () => {
  const { leader } = servers();
  checkDigestCover(leader);
  const apply = vi.spyOn(DataTree.prototype, "apply").mockReturnValue(0);
  expect(() => checkDigestCover(leader)).toThrow("E2");
  apply.mockRestore();
});

test("rule C10 fires at an open connection of a session whose end is applied", () => {
  const { cluster, follower } = servers();
  const ref = connected(cluster, follower);
  const session = follower.replica.connection(ref)?.session?.id;
  const ended = new EndedSessions();
  ended.applied(SESSION);
  ended.stepped(follower, () => [ref]);
  ended.applied(session ?? SESSION);
  expect(() => ended.stepped(follower, () => [ref])).toThrow("C10");
});

describe("rule T2", () => {
  const container = (): ModelTree => {
    const model = new ModelTree();
    const node = { kind: "create", data: "", ephemeral: false, sequential: false } as const;
    const write = (one: Parameters<ModelTree["apply"]>[0] & { kind: "one" }, zxid: number) =>
      model.apply(one, SESSION, zxid, 0);
    write({ kind: "one", write: { ...node, path: "/c", reaped: { kind: "container" } } }, 1);
    write({ kind: "one", write: { ...node, path: "/c/x" } }, 2);
    write({ kind: "one", write: { kind: "delete", path: "/c/x", version: -1 } }, 3);
    return model;
  };

  test("names a container that is due, unless the leader's clock was set", () => {
    const { cluster, leader } = servers();
    const reaping = new Reaping();
    reaping.stepped(leader);
    expect(reaping.dueNode(leader, container())).toBe("/c");
    cluster.skewWallClock(leader.sid, 5000);
    expect(reaping.dueNode(leader, container())).toBeUndefined();
  });

  test("fires at a removal by a leader whose clock was set", () => {
    const { cluster, leader } = servers();
    const reaping = new Reaping();
    reaping.stepped(leader);
    reaping.proposed(leader);
    cluster.skewWallClock(leader.sid, 5000);
    expect(() => reaping.proposed(leader)).toThrow("T2");
  });
});

test("rule L4 fires at a read that its server has read and not answered, not at one behind a write", () => {
  const { cluster, follower } = servers();
  const ref = connected(cluster, follower);
  const { nowMs } = cluster;
  const client = new SimClient("c1", new Prng(1), { address: "127.0.0.1" });
  const times = { openedMs: 0, openedZxid: 0, arrivesMs: 0, arrivedMs: 0 };
  client.connection = { server: follower, ref, isReady: true, isSilent: false, isLingering: false, ...times };
  const sent = { xid: 1, atMs: 0, committed: 0, readMs: nowMs };
  client.inFlight = [{ ...sent, request: { kind: "read", read: { kind: "ping" } } }];
  checkUnanswered(client, nowMs + 500, false);
  checkUnanswered(client, nowMs + 900, true);
  expect(() => checkUnanswered(client, nowMs + 900, false)).toThrow("L4");
  client.inFlight.unshift({ ...sent, request: { kind: "write", request: { kind: "close" } } });
  checkUnanswered(client, nowMs + 900, false);
});
