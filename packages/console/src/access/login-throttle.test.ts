import { expect, test } from "vitest";
import { LoginThrottle } from "./login-throttle.ts";

const HERE = "10.0.0.1";
const THERE = "10.0.0.2";

function stage(): { throttle: LoginThrottle; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  return { throttle: new LoginThrottle(() => clock.nowMs), clock };
}

function failTimes(throttle: LoginThrottle, count: number, address: string, user: string): void {
  for (let i = 0; i < count; i++) throttle.failed({ address, user });
}

test("after five failures of an address its next login waits, longer after each further one", () => {
  const { throttle, clock } = stage();
  failTimes(throttle, 4, HERE, "alice");
  expect(throttle.waitMs({ address: HERE, user: "alice" })).toBe(0);
  failTimes(throttle, 1, HERE, "bob");
  expect(throttle.waitMs({ address: HERE, user: "carol" })).toBe(1000);
  failTimes(throttle, 1, HERE, "bob");
  expect(throttle.addressWaitMs(HERE)).toBe(2000);
  clock.nowMs += 600_001;
  expect(throttle.addressWaitMs(HERE)).toBe(0);
});

test("failures from other addresses lock no user out", () => {
  const { throttle } = stage();
  failTimes(throttle, 100, HERE, "alice");
  expect(throttle.waitMs({ address: THERE, user: "alice" })).toBe(0);
});

test("a user is not locked out by others at an address from which the user has logged in", () => {
  const { throttle } = stage();
  throttle.succeeded({ address: HERE, user: "alice" });
  failTimes(throttle, 100, HERE, "eve");
  expect(throttle.waitMs({ address: HERE, user: "alice" })).toBe(0);
  expect(throttle.waitMs({ address: HERE, user: "bob" })).toBeGreaterThan(0);
  failTimes(throttle, 5, HERE, "alice");
  expect(throttle.waitMs({ address: HERE, user: "alice" })).toBe(1000);
});

test("a login shortens no wait but that of its user at its address", () => {
  const places = [HERE, THERE].flatMap((address) => ["alice", "bob"].map((user) => ({ address, user })));
  for (const login of places) {
    const { throttle } = stage();
    const waits = (): readonly number[] => [
      ...places.map((place) => throttle.waitMs(place)),
      ...[HERE, THERE].map((address) => throttle.addressWaitMs(address)),
      throttle.waitMs({ ...login, user: "carol" }),
    ];
    for (const { address, user } of places) failTimes(throttle, 6, address, user);
    const before = waits();
    expect(Math.min(...before)).toBeGreaterThan(0);
    throttle.succeeded(login);
    expect(waits()).toEqual(before.map((ms, i) => (places[i] === login ? 0 : ms)));
  }
});

test("addresses of one /64 count as one", () => {
  const { throttle } = stage();
  for (let host = 1; host <= 5; host++) throttle.failed({ address: `2001:db8::${host}`, user: `user${host}` });
  expect(throttle.waitMs({ address: "2001:db8::ffff", user: "alice" })).toBe(1000);
  expect(throttle.waitMs({ address: "2001:db8:0:1::1", user: "alice" })).toBe(0);
});

test("what is kept is bounded by number and by time, and long names are kept as hashes", () => {
  const { throttle, clock } = stage();
  for (let i = 0; i < 30_000; i++)
    throttle.failed({ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, user: "x" });
  expect(throttle.size).toBeLessThanOrEqual(20_000);
  clock.nowMs += 600_001;
  throttle.failed({ address: HERE, user: "x" });
  expect(throttle.size).toBe(2);
});
