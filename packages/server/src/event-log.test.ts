import { serverId, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { EventLog } from "./event-log.ts";

test("events that go on until an operator acts are written once a minute, with how often they happened", () => {
  const lines: string[] = [];
  const write = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  let nowMs = 0;
  const log = new EventLog({ info: write("info"), warn: write("warn"), error: write("error") }, () => nowMs);
  const applied = { kind: "applied-beyond", applied: 9 as Zxid, from: 1 as Zxid } as const;
  for (; nowMs < 60_000; nowMs += 1000) log.note(applied);
  expect(lines).toEqual([expect.stringMatching(/^error this server has applied .* 0x9[^(]*$/)]);
  log.note({ kind: "learner-not-counted", sid: serverId(2) });
  log.note(applied);
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^warn server 2 /),
    expect.stringMatching(/^error this server has applied .* 0x9.* \(59 more times since\)$/),
  ]);
});

test("changes of roles are written each time", () => {
  const lines: string[] = [];
  const log = new EventLog({ info: (text) => lines.push(text), warn: () => {}, error: () => {} }, () => 0);
  for (let i = 0; i < 3; i++) log.note({ kind: "learner-follows", sid: serverId(2) });
  expect(lines).toHaveLength(3);
});
