import { serverId, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { EventLog } from "./event-log.ts";

test("events that continue until an operator acts are written once a minute, with how often they happened", () => {
  const lines: string[] = [];
  const write = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  let nowMs = 0;
  const log = new EventLog({ info: write("info"), warn: write("warn"), error: write("error") }, () => nowMs);
  const applied = { kind: "applied-beyond", leader: serverId(1), applied: 9 as Zxid, from: 1 as Zxid } as const;
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

test("of more different lines than are remembered the oldest is written again at once", () => {
  const lines: string[] = [];
  const warn = (text: string): void => void lines.push(text);
  const log = new EventLog({ info: () => {}, warn, error: () => {} }, () => 0);
  const note = (sid: number): void => log.note({ kind: "learner-not-counted", sid: serverId(sid) });
  for (let sid = 1; sid <= 65; sid++) note(sid);
  expect(lines).toHaveLength(65);
  for (let sid = 2; sid <= 65; sid++) note(sid);
  expect(lines).toHaveLength(65);
  note(1);
  expect(lines.at(-1)).toMatch(/^server 1 /);
  expect(lines).toHaveLength(66);
});
