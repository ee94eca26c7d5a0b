import { OpCode } from "@zooid/model";
import { RawClient } from "@zooid/wire/testing/raw-client";
import { describe, expect, test } from "vitest";
import { ConfigError, parseServerConfig } from "../config.ts";
import { startTestServer } from "../testing/server.ts";
import {
  type Connecting,
  ConnectionThrottle,
  type ConnectionThrottleOptions,
  parseConnectionThrottle,
} from "./connection-throttle.ts";

function throttle(options: ConnectionThrottleOptions, random = 0.5): ConnectionThrottle {
  return new ConnectionThrottle(parseConnectionThrottle(options, []), 1000, () => random);
}

/** How many of a hundred simultaneous connections are accepted. */
function admitted(one: ConnectionThrottle, nowMs: number, asking: Connecting = "global"): number {
  let count = 0;
  for (let i = 0; i < 100; i++) if (one.admits(asking, nowMs)) count++;
  return count;
}

const INVALID: Readonly<Record<Exclude<keyof ConnectionThrottleOptions, "isWeighted">, readonly number[]>> = {
  tokens: [-1, 0.5, 2 ** 31],
  fillMs: [0, 0.5, Number.NaN],
  fillCount: [-1, 0.5],
  freezeMs: [-2, 0.5],
  dropIncrease: [-0.1, 1.1, Number.NaN],
  dropDecrease: [-0.1, 1.1],
  decreaseRatio: [-0.1, 1.1],
  globalWeight: [0, 0.5],
  localWeight: [0, 0.5],
  renewWeight: [0, 0.5],
};
test.each(Object.entries(INVALID))("the setting %s is refused outside of its range", (name, values) => {
  for (const value of values) {
    const problems: string[] = [];
    parseConnectionThrottle({ [name]: value }, problems);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^connection_throttle_.*, found ${value}$`))]);
  }
});

test("without a bucket every connection is accepted", () => {
  expect(admitted(throttle({}), 1000)).toBe(100);
});

test("as many connections are accepted as there are tokens, and more as they are put back, up to the size of the bucket", () => {
  const one = throttle({ tokens: 10, fillMs: 100, fillCount: 3 });
  expect(admitted(one, 1000)).toBe(10);
  expect(admitted(one, 1099)).toBe(0);
  expect(admitted(one, 1100)).toBe(3);
  expect(admitted(one, 1350)).toBe(6);
  // The half of an interval that was left over counts.
  expect(admitted(one, 1400)).toBe(3);
  expect(admitted(one, 999_999)).toBe(10);
});

test.each<[Connecting, number]>([
  ["global", 20],
  ["local", 60],
  ["renew", 30],
])("a session that is %s takes its weight, where weights count", (asking, count) => {
  expect(admitted(throttle({ tokens: 60, isWeighted: true }), 1000, asking)).toBe(count);
  expect(admitted(throttle({ tokens: 60 }), 1000, asking)).toBe(60);
});

test("a flood is thinned out by chance, and the chance goes when it is over", () => {
  const one = throttle({ tokens: 1, fillMs: 100, freezeMs: 10, dropIncrease: 0.4, dropDecrease: 0.2 });
  expect(admitted(one, 1000)).toBe(1);
  expect(one.admits("global", 1020)).toBe(false);
  expect(one.admits("global", 1040)).toBe(false);
  // The drop probability is 0.8, and 0.6 with the bucket full: above the random number, so no
  // connection takes the token that is back.
  expect(one.admits("global", 1105)).toBe(false);
  expect(one.admits("global", 1120)).toBe(true);
});

describe("a server", () => {
  test("accepts as many connections as there are tokens, and continues serving them", async () => {
    const connectionThrottle = { tokens: 2, fillMs: 2 ** 31 - 1 };
    await using zk = await startTestServer({ connectionThrottle });
    await using one = await RawClient.withSession(zk.port);
    await using two = await RawClient.withSession(zk.port);
    await expect(RawClient.withSession(zk.port)).rejects.toThrow("closed");
    expect(await one.ask(OpCode.PING)).toMatchObject({ code: 0 });
    expect(await two.ask(OpCode.PING)).toMatchObject({ code: 0 });
    expect(zk.lines).toContainEqual(expect.stringContaining("connection_throttle_tokens"));
  });

  test("validates its settings", () => {
    const connectionThrottle = {
      tokens: -1,
      fillMs: 0,
      freezeMs: -2,
      dropIncrease: 2,
      dropDecrease: -0.1,
      renewWeight: 0,
    };
    const problems = (): unknown => parseServerConfig({ connectionThrottle });
    expect(problems).toThrow(ConfigError);
    expect(problems).toThrow(
      /tokens[\s\S]*fill_time[\s\S]*freeze_time[\s\S]*drop_increase[\s\S]*drop_decrease[\s\S]*renew/,
    );
  });

  test("applies the smaller of both limits of requests in flight", () => {
    expect(parseServerConfig({ outstandingCountMax: 50 }).outstandingCountMax).toBe(50);
    expect(parseServerConfig({ outstandingCountMax: 50, requestThrottleMax: 0 }).outstandingCountMax).toBe(50);
    expect(parseServerConfig({ outstandingCountMax: 50, requestThrottleMax: 20 }).outstandingCountMax).toBe(20);
  });
});

test("another configuration begins with a full bucket, and the same one leaves it as it is", () => {
  const one = throttle({ tokens: 10, fillMs: 1000 });
  expect(admitted(one, 1000)).toBe(10);
  one.change(parseConnectionThrottle({ tokens: 10, fillMs: 1000 }, []), 1001);
  expect(admitted(one, 1001)).toBe(0);
  one.change(parseConnectionThrottle({ tokens: 20, fillMs: 1000 }, []), 1002);
  expect(admitted(one, 1002)).toBe(20);
  expect(admitted(one, 2002)).toBe(1);
  one.change(parseConnectionThrottle({}, []), 2003);
  expect(admitted(one, 2003)).toBe(100);
});

test("clients are not dropped by the probability of a configuration before", () => {
  const one = throttle({ tokens: 1, fillMs: 1_000_000, freezeMs: 0, dropIncrease: 1 }, 0);
  admitted(one, 1000);
  admitted(one, 1001);
  admitted(one, 1002);
  expect(one.dropChance).toBe(1);
  one.change(parseConnectionThrottle({ tokens: 5 }, []), 1003);
  expect([one.dropChance, admitted(one, 1003)]).toEqual([0, 5]);
});
