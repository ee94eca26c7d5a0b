import { Backoff, SESSION_NONE, type SessionId, ZXID_NONE, type Zxid } from "@zooid/model";
import type { ConnectResponse } from "@zooid/wire";
import { expect, test } from "vitest";
import { HostList } from "../servers/host-list.ts";
import type { AttemptFailure } from "./attempt-failures.ts";
import { Session, type SessionConfig, type SessionSinks } from "./session.ts";

const A = { host: "a", port: 1 };
const B = { host: "b", port: 2 };
const A1 = { host: "10.0.0.1", port: 1 };
const A2 = { host: "10.0.0.2", port: 1 };
const ID = 0x1234n as SessionId;
const PASSWORD = Uint8Array.from({ length: 16 }, (_, i) => i);

/** A session whose sinks record their calls. */
function newSession(
  config: Partial<SessionConfig> = {},
  hosts = [A, B],
  attemptFailed = (_failure: AttemptFailure): void => {},
  /** Limits of the attempts to reach an address. */
  limits: (number | undefined)[] = [],
) {
  const received: string[] = [];
  let hear = (_word: string): void => {};
  const sinks: SessionSinks = {
    resolve: ({ host }) => received.push(`resolve ${host}`),
    dial: ({ host, port }, reachMs) => {
      received.push(`dial ${host}:${port}`);
      limits.push(reachMs);
    },
    hangUp: () => received.push("hang up"),
    handshake: ({ sessionId, lastZxidSeen, timeoutMs, readOnly }) =>
      received.push(`handshake ${sessionId} ${lastZxidSeen} ${timeoutMs} ${readOnly}`),
    ping: () => received.push("ping"),
    closeSession: () => received.push("close session"),
    established: () => {
      received.push("established");
      hear("established");
    },
    severed: () => received.push("severed"),
    attemptFailed,
    ended: (end) => received.push(`ended ${end}`),
    state: (state) => {
      received.push(`state ${state.kind}`);
      hear(state.kind);
    },
  };
  const session = new Session(
    {
      timeoutMs: 9_000,
      connectTimeoutMs: 1_000,
      allowsReadOnly: false,
      onExpiry: "new-session",
      acceptsRegression: true,
      ...config,
    },
    {
      hosts: new HostList({ hosts: () => hosts }, { shuffle: false, random: () => 0.5 }),
      backoff: new Backoff({ leastMs: 100, mostMs: 1_000, jitter: 1, random: () => 1 }),
      sinks,
    },
  );
  /** Closes the session in a listener of a state. */
  const closeOn = (word: string, nowMs: number): void => {
    hear = (heard) => {
      if (heard === word) session.close(nowMs);
    };
  };
  return { session, closeOn, take: () => received.splice(0) };
}

function greeting(fields: Partial<ConnectResponse> = {}): ConnectResponse {
  const password = { bytes: PASSWORD, start: 0, end: 16 };
  return { timeoutMs: 9_000, sessionId: ID, password, readOnly: false, ...fields };
}

/** A session that is connected since 0 ms. */
function connected(config: Partial<SessionConfig> = {}) {
  const made = newSession(config);
  made.session.start(0);
  made.session.resolved([A1], 0);
  made.session.opened(0);
  made.session.greeted(greeting(), 0);
  made.take();
  return made;
}

const GONE = greeting({ timeoutMs: 0, sessionId: SESSION_NONE });

test("a name is resolved, its address dialled, and a session requested", () => {
  const { session, take } = newSession();
  session.start(0);
  session.resolved([A1], 0);
  session.opened(1);
  session.greeted(greeting({ timeoutMs: 6_000 }), 2);
  expect(take()).toEqual([
    "resolve a",
    "dial 10.0.0.1:1",
    "handshake 0 0 9000 false",
    "established",
    "state connected",
  ]);
  expect([session.id, session.timeoutMs, session.server]).toEqual([ID, 6_000, "10.0.0.1:1"]);
  expect(session.password).toEqual(PASSWORD);
});

test("every address of a name is tried before the next name, and a round is followed by a pause", () => {
  const { session, take } = newSession();
  session.start(0);
  session.resolved([A1, A2], 0);
  session.disconnected(1);
  session.disconnected(2);
  session.resolved([], 3);
  expect(take()).toEqual(["resolve a", "dial 10.0.0.1:1", "dial 10.0.0.2:1", "resolve b"]);
  expect(session.deadlineMs).toBe(103);
  session.tick(102);
  expect(take()).toEqual([]);
  session.tick(103);
  expect(take()).toEqual(["resolve a"]);
});

test("the pause between rounds grows, and is reset by a success", () => {
  const { session } = newSession({}, [A]);
  const pauses: number[] = [];
  session.start(0);
  for (let i = 0; i < 5; i++) {
    session.resolved([], 0);
    pauses.push(session.deadlineMs);
    session.tick(session.deadlineMs);
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1_000]);
  session.resolved([A1], 0);
  session.opened(0);
  session.greeted(greeting(), 0);
  session.disconnected(10);
  session.resolved([], 10);
  session.tick(session.deadlineMs);
  session.resolved([], 10);
  expect(session.deadlineMs - 10).toBeLessThanOrEqual(200);
});

test("an attempt without a greeting in time is given up for the next", () => {
  const { session, take } = newSession();
  session.start(0);
  session.resolved([A1, A2], 0);
  session.tick(1_000);
  session.opened(1_500);
  session.tick(2_000);
  expect(take()).toEqual([
    "resolve a",
    "dial 10.0.0.1:1",
    "hang up",
    "dial 10.0.0.2:1",
    "handshake 0 0 9000 false",
    "hang up",
    "resolve b",
  ]);
});

test("an address has half a second to answer where there are others, and twice as long where all are silent", () => {
  const limits: (number | undefined)[] = [];
  const { session } = newSession({ connectTimeoutMs: 3_000 }, [A, B], undefined, limits);
  session.start(0);
  const round = (cause?: Error): (number | undefined)[] => {
    for (const end of [undefined, { cause }]) {
      session.resolved([A1], 0);
      session.disconnected(0, end);
    }
    session.tick(session.deadlineMs);
    return limits.splice(0);
  };
  expect([round(), round(), round(), round()]).toEqual([
    [500, 500],
    [1_000, 1_000],
    [2_000, 2_000],
    [undefined, undefined],
  ]);
  session.resolved([A1], 0);
  session.opened(0);
  session.greeted(greeting(), 0);
  session.disconnected(10);
  limits.splice(0);
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const rounds = Array.from({ length: 5 }, () => round(refused)[0]);
  expect(rounds).toEqual([500, 500, 500, 500, 1_000]);
});

test.each([
  [[A1], undefined],
  [[A1, A2], 500],
])("a single name with the addresses %j is reached within %s ms in the first round", (addresses, expected) => {
  const limits: (number | undefined)[] = [];
  const { session } = newSession({ connectTimeoutMs: 3_000 }, [A], undefined, limits);
  session.start(0);
  session.resolved(addresses, 0);
  expect(limits).toEqual([expected]);
});

test("a lost connection is followed by attempts to resume the session, with the last zxid seen", () => {
  const { session, take } = connected();
  session.answered(0, 77 as Zxid);
  session.answered(0, 5 as Zxid);
  session.disconnected(100);
  session.resolved([A2], 101);
  session.opened(102);
  session.greeted(greeting(), 103);
  expect(take()).toEqual([
    "severed",
    "state suspended",
    "resolve b",
    "dial 10.0.0.2:1",
    "handshake 4660 77 9000 false",
    "established",
    "state connected",
  ]);
});

test("a session that the server does not know any more is lost, and a new one requested", () => {
  const { session, take } = connected();
  session.disconnected(100);
  session.resolved([A2], 100);
  session.opened(100);
  take();
  session.greeted(GONE, 101);
  session.opened(102);
  expect(take()).toEqual(["hang up", "state lost", "dial 10.0.0.2:1", "handshake 0 0 9000 false"]);
  expect(session.password).toEqual(new Uint8Array(16));
});

test("with onExpiry close the client ends with its session", () => {
  const { session, take } = connected({ onExpiry: "close" });
  session.disconnected(100);
  session.resolved([A2], 100);
  session.opened(100);
  take();
  session.greeted(GONE, 101);
  expect(take()).toEqual(["hang up", "state lost", "hang up", "state closed", "ended expired"]);
  session.tick(1_000_000);
  expect([take(), session.deadlineMs]).toEqual([[], Number.POSITIVE_INFINITY]);
});

test("with onExpiry close the client ends when its session must be assumed lost, and makes no further attempt", () => {
  const { session, take } = connected({ onExpiry: "close" });
  session.disconnected(100);
  session.resolved([], 100);
  take();
  session.tick(7_200);
  expect(take()).toEqual(["state lost", "hang up", "hang up", "state closed", "ended expired"]);
  session.tick(1_000_000);
  expect([take(), session.deadlineMs]).toEqual([[], Number.POSITIVE_INFINITY]);
});

test("without any answer the session is lost when no server can have kept it, counted from the last request answered", () => {
  const { session, take } = connected();
  session.answered(2_000, ZXID_NONE); // alive until 2000 + 9000 - 1800
  session.disconnected(2_500);
  session.resolved([], 2_500);
  take();
  while (session.deadlineMs < 9_200) session.tick(session.deadlineMs);
  expect(take()).not.toContain("state lost");
  session.tick(9_200);
  expect(take()).toContain("state lost");
});

test("a session assumed lost is resumed all the same if the server has kept it", () => {
  const { session, take } = connected();
  session.disconnected(100);
  session.tick(7_200);
  session.tick(7_201);
  expect(take().filter((line) => line === "state lost")).toHaveLength(1);
  session.resolved([A1], 7_300);
  while (!take().some((line) => line.startsWith("dial"))) {
    session.tick(session.deadlineMs);
    session.resolved([A1], session.deadlineMs);
  }
  session.opened(8_000);
  session.greeted(greeting(), 8_001);
  expect(take()).toEqual(["handshake 4660 0 9000 false", "established", "state connected"]);
});

test("a quiet connection is pinged after a third of the timeout and dropped after two thirds", () => {
  const { session, take } = connected();
  expect(session.deadlineMs).toBe(3_000);
  session.tick(2_999);
  expect(take()).toEqual([]);
  session.tick(3_000);
  expect(take()).toEqual(["ping"]);
  session.tick(6_000);
  expect(take().slice(0, 3)).toEqual(["hang up", "severed", "state suspended"]);
});

test("requests take the place of pings, and anything received keeps the connection", () => {
  const { session, take } = connected();
  session.sent(2_900);
  expect(session.received(5_000)).toBe(true);
  session.tick(3_000);
  expect(take()).toEqual([]);
  session.tick(5_900);
  session.tick(6_001);
  expect(take()).toEqual(["ping"]);
});

test("data that arrives after a suspension as long as the session is discarded", () => {
  const { session, take } = connected();
  expect(session.received(7_200)).toBe(false);
  expect(take().slice(0, 4)).toEqual(["hang up", "severed", "state suspended", "state lost"]);
});

test("a session to resume is requested by its id", () => {
  const { session, take } = newSession({ resume: { id: ID, password: PASSWORD } });
  session.start(0);
  session.resolved([A1], 0);
  session.opened(0);
  expect(take().at(-1)).toBe("handshake 4660 0 9000 false");
});

test("a server in read-only mode makes a read-only state", () => {
  const { session, take } = newSession({ allowsReadOnly: true });
  session.start(0);
  session.resolved([A1], 0);
  session.opened(0);
  session.greeted(greeting({ readOnly: true }), 0);
  expect(take().slice(-3)).toEqual(["handshake 0 0 9000 true", "established", "state read-only"]);
});

test("closing asks the server to end the session and waits for its answer", () => {
  const { session, take } = connected();
  session.close(10);
  session.close(11);
  expect(take()).toEqual(["close session"]);
  session.sessionClosed();
  expect(take()).toEqual(["hang up", "state closed", "ended closed"]);
});

test.each([
  ["the connection is lost", (session: Session) => session.disconnected(20)],
  ["no answer comes", (session: Session) => session.tick(5_010)],
])("closing ends when %s", (_, happen) => {
  const { session, take } = connected();
  session.close(10);
  take();
  happen(session);
  expect(take()).toEqual(["hang up", "state closed", "ended closed"]);
});

test("closing without a connection ends at once", () => {
  const { session, take } = newSession();
  session.start(0);
  take();
  session.close(1);
  expect(take()).toEqual(["hang up", "state closed", "ended closed"]);
  session.resolved([A1], 2);
  session.opened(3);
  expect(take()).toEqual([]);
});

test("refused credentials end the client", () => {
  const { session, take } = connected();
  session.authFailed();
  session.authFailed();
  expect(take()).toEqual(["hang up", "state auth-failed", "ended auth-failed"]);
});

test.each([
  [true, "handshake 4660 0 9000 false"],
  [false, "handshake 4660 99 9000 false"],
])("a lost client that all servers refuse for rounds starts again if allowed: %s", (acceptsRegression, handshake) => {
  const { session, take } = connected({ acceptsRegression });
  session.answered(0, 99 as Zxid);
  session.disconnected(0);
  let nowMs = 7_200;
  session.tick(nowMs);
  const handshakes: string[] = [];
  for (let i = 0; i < 60; i++) {
    nowMs += 1_000;
    session.tick(nowMs);
    session.resolved([A1], nowMs);
    session.opened(nowMs);
    handshakes.push(...take().filter((line) => line.startsWith("handshake")));
    session.disconnected(nowMs);
  }
  expect(handshakes[0]).toBe("handshake 4660 99 9000 false");
  expect(handshakes.at(-1)).toBe(handshake);
});

test("a client that is only suspended keeps its last zxid, however often it is refused", () => {
  const { session, take } = connected({ timeoutMs: 9_000 });
  session.answered(0, 99 as Zxid);
  session.disconnected(0);
  for (let i = 0; i < 30; i++) {
    session.tick(10 * i);
    session.resolved([A1], 10 * i);
    session.opened(10 * i);
    session.disconnected(10 * i);
  }
  expect(
    take()
      .filter((line) => line.startsWith("handshake"))
      .every((line) => line.includes(" 99 ")),
  ).toBe(true);
});

test("a close that insists attaches the session again, at once and then after a pause, whatever time has passed", () => {
  const { session, take } = connected({ onExpiry: "close" });
  session.closeConfirmed(10);
  session.disconnected(20);
  expect(take()).toEqual(["close session", "severed", "state suspended", "resolve b"]);
  session.resolved([A2], 20);
  session.opened(20);
  session.greeted(greeting(), 20);
  expect(take()).toEqual(["dial 10.0.0.2:1", "handshake 4660 0 9000 false", "established"]);
  expect([session.isClosing, session.isClosedAtServer]).toEqual([true, false]);
  // The server is silent.
  session.tick(20 + 6_000);
  expect(take()).toEqual(["hang up", "severed", "state suspended"]);
  expect(session.deadlineMs).toBe(6_120);
  // The session may be over: without a server's word the client does not end.
  session.tick(20_000);
  expect(take()).toContain("state lost");
  session.tick(session.deadlineMs);
  session.resolved([A1], 21_000);
  session.opened(21_000);
  session.greeted(GONE, 21_001);
  expect(take().slice(-3)).toEqual(["hang up", "state closed", "ended closed"]);
  expect(session.isClosedAtServer).toBe(true);
});

test.each(["suspended", "lost"])("closed by a listener of the state %s, it makes no further attempt", (word) => {
  const { session, closeOn, take } = connected();
  closeOn(word, 8_000);
  session.disconnected(8_000);
  const received = take();
  expect(received.slice(received.indexOf(`state ${word}`) + 1)).toEqual(["hang up", "state closed", "ended closed"]);
  expect(session.deadlineMs).toBe(Number.POSITIVE_INFINITY);
});

test("closed by a listener of a refused session's loss, it ends once and as closed", () => {
  for (const onExpiry of ["new-session", "close"] as const) {
    const { session, closeOn, take } = connected({ onExpiry });
    session.disconnected(10);
    session.resolved([A1], 10);
    session.opened(10);
    take();
    closeOn("lost", 20);
    session.greeted(GONE, 20);
    expect(take()).toEqual(["hang up", "state lost", "hang up", "state closed", "ended closed"]);
  }
});

test("closed while it is being established, it does not report connected", () => {
  const { session, closeOn, take } = newSession();
  session.start(0);
  session.resolved([A1], 0);
  session.opened(0);
  take();
  closeOn("established", 0);
  session.greeted(greeting(), 0);
  expect(take()).toEqual(["established", "close session"]);
});

test("a greeting from before a suspension is discarded, and the loss is reported before the next attempt", () => {
  const { session, take } = connected();
  session.disconnected(10);
  session.resolved([A1], 10);
  session.opened(10);
  take();
  session.greeted(greeting(), 9_000);
  expect(take().slice(0, 2)).toEqual(["hang up", "state lost"]);
});

test("a greeting with another session means that the requested one is lost", () => {
  const other = greeting({ sessionId: 0x99n as SessionId });
  for (const [onExpiry, said] of [
    ["new-session", ["state lost", "established", "state connected"]],
    ["close", ["hang up", "state lost", "hang up", "state closed", "ended expired"]],
  ] as const) {
    const { session, take } = connected({ onExpiry });
    session.disconnected(10);
    session.resolved([A1], 10);
    session.opened(10);
    take();
    session.greeted(other, 20);
    expect(take()).toEqual(said);
  }
});

test("pauses keep growing while servers greet and then send invalid data", () => {
  const { session } = newSession({}, [A]);
  const pauses: number[] = [];
  session.start(0);
  for (let i = 0; i < 4; i++) {
    session.resolved([A1], 0);
    session.opened(0);
    session.greeted(greeting(), 0);
    session.disconnected(0, { isFault: true });
    pauses.push(session.deadlineMs);
    session.tick(session.deadlineMs);
  }
  expect(pauses).toEqual([100, 200, 400, 800]);
});

test("an answer to a ping proves the session alive up to when that ping was sent, and an unsolicited one proves nothing", () => {
  const { session } = connected();
  session.pingAnswered(7 as Zxid);
  expect([session.aliveUntilMs, session.lastZxid]).toEqual([7_200, ZXID_NONE]);
  for (const atMs of [3_000, 6_000]) {
    session.tick(atMs);
    session.received(atMs);
  }
  session.pingAnswered(ZXID_NONE);
  expect(session.aliveUntilMs).toBe(10_200);
  session.tick(9_000);
  session.pingAnswered(ZXID_NONE);
  expect(session.aliveUntilMs).toBe(13_200);
});

/** Brings a session to a step of its first attempt. */
function reach(session: Session, step: "resolve" | "connect" | "greet"): void {
  session.start(0);
  if (step !== "resolve") session.resolved([A1], 0);
  if (step === "greet") session.opened(1);
}

test.each([
  ["resolve", "failed", (session: Session) => session.resolved([], 5)],
  ["resolve", "timeout", (session: Session) => session.tick(1_000)],
  ["connect", "failed", (session: Session) => session.disconnected(5)],
  ["connect", "timeout", (session: Session) => session.tick(1_000)],
  ["greet", "failed", (session: Session) => session.disconnected(5)],
  ["greet", "timeout", (session: Session) => session.tick(1_000)],
  ["greet", "refused", (session: Session) => session.greeted(GONE, 2)],
] as const)("a failed attempt is reported: %s %s", (step, kind, fail) => {
  const failures: AttemptFailure[] = [];
  const { session } = newSession({}, [A], (failure) => failures.push(failure));
  reach(session, step);
  fail(session);
  expect(failures).toMatchObject([{ step, kind, host: step === "resolve" ? A : A1 }]);
});
