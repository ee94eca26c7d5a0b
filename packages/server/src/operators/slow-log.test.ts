import { composeZxid, type SessionId } from "@zooid/model";
import type { SlowRequest } from "@zooid/replica";
import { expect, test } from "vitest";
import type { LogFields } from "./log-fields.ts";
import { SlowLog } from "./slow-log.ts";

const WRITE: SlowRequest = {
  kind: "slow-request",
  op: "SET_DATA",
  path: "/a",
  session: 0x10n as SessionId,
  address: "10.0.0.7",
  xid: 3,
  zxid: composeZxid(1, 9),
  totalMs: 1200,
  stages: { queueMs: 100, syncMs: 1000, commitMs: 1090, applyMs: 10 },
};
const READ: SlowRequest = {
  kind: "slow-request",
  op: "GET_CHILDREN2",
  path: "",
  session: undefined,
  address: "10.0.0.7",
  xid: 4,
  zxid: undefined,
  totalMs: 1500,
  stages: { waitMs: 1500 },
};
const NO_TURN = { tookMs: 0, answered: 0, applied: 0 };

function openLog() {
  const clock = { nowMs: 0 };
  const lines: LogFields[] = [];
  const texts: string[] = [];
  const log = new SlowLog({
    thresholdMs: 1000,
    warn: (text, fields) => {
      texts.push(text);
      lines.push(fields);
    },
    nowMs: () => clock.nowMs,
  });
  return { clock, lines, texts, log };
}

test("a slow request is one line with its stages, once its answer is sent", () => {
  const { lines, texts, log } = openLog();
  log.request(WRITE);
  expect([lines, log.hasPending]).toEqual([[], true]);
  log.endTurn({ tookMs: 2, answered: 1, applied: 1 });
  expect(lines).toEqual([
    {
      event: "slow-request",
      op: "set_data",
      path: "/a",
      session: "0x10",
      address: "10.0.0.7",
      xid: 3,
      zxid: "0x100000009",
      durationMs: 1200,
      queueMs: 100,
      syncMs: 1000,
      commitMs: 1090,
      applyMs: 10,
      sendMs: 2,
    },
  ]);
  for (const part of ["set_data /a", "1200 ms", "100 ms", "1000 ms", "1090 ms", "0x10"])
    expect(texts[0]).toContain(part);
  expect(log.hasPending).toBe(false);
});

test("a read without a session has only what is known of it", () => {
  const { lines, log } = openLog();
  log.request(READ);
  log.endTurn(NO_TURN);
  expect(lines).toEqual([
    {
      event: "slow-request",
      op: "get_children2",
      address: "10.0.0.7",
      xid: 4,
      durationMs: 1500,
      waitMs: 1500,
      sendMs: 0,
    },
  ]);
});

test("a slow turn is a line, though no request in it is slow by the clock of its beginning", () => {
  const { lines, log } = openLog();
  log.endTurn({ tookMs: 999, answered: 1, applied: 0 });
  log.endTurn({ tookMs: 1000, answered: 64, applied: 2 });
  expect(lines).toEqual([{ event: "slow-turn", durationMs: 1000 }]);
});

test("of a flood five are written at once, and the slowest of the others when the window ends", () => {
  const { clock, lines, log } = openLog();
  for (let i = 0; i < 100; i++) {
    log.request({ ...WRITE, totalMs: 2000 - i });
    log.endTurn(NO_TURN);
  }
  expect(lines).toHaveLength(5);
  log.tick();
  expect(lines).toHaveLength(5);
  clock.nowMs = 10_000;
  log.tick();
  expect(lines[5]).toMatchObject({ event: "slow-request", suppressed: 95, durationMs: 1995, syncMs: 1000 });
  log.tick();
  expect([lines.length, log.count]).toEqual([6, 100]);
});

test("the next slow request ends the window too, and opens another", () => {
  const { clock, lines, log } = openLog();
  for (let i = 0; i < 6; i++) log.request(WRITE);
  log.endTurn(NO_TURN);
  clock.nowMs = 12_000;
  log.request(READ);
  log.endTurn(NO_TURN);
  expect(lines.map(({ suppressed, op }) => [op, suppressed])).toEqual([
    ...Array.from({ length: 5 }, () => ["set_data", undefined]),
    ["set_data", 1],
    ["get_children2", undefined],
  ]);
});
