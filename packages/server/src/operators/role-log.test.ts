import { EPOCH_ALARM, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import type { LogFields } from "./log-fields.ts";
import { RoleLog } from "./role-log.ts";

function logOf(run: (log: RoleLog) => void): readonly string[] {
  const lines: string[] = [];
  run(new RoleLog({ info: (text) => lines.push(text), warn: (text) => lines.push(`WARN ${text}`) }));
  return lines;
}

const leader = serverId(3);
const looking = { state: "looking", phase: "election", epoch: 0, leader: undefined } as const;
const following = { state: "following", epoch: 5, leader } as const;

test("a follower logs when it looks for a leader and when it serves, with the time of its synchronization", () => {
  const lines = logOf((log) => {
    log.changed(looking, 0);
    log.changed(looking, 10);
    log.changed({ ...following, phase: "discovery" }, 100);
    log.changed({ ...following, phase: "synchronization" }, 150);
    log.changed({ ...following, phase: "broadcast" }, 314);
    log.changed({ ...following, phase: "broadcast" }, 400);
  });
  expect(lines).toEqual(["LOOKING for a leader", "FOLLOWING server 3, epoch 5, synced after 214 ms"]);
});

test("a leader logs its epoch, and again when it leads a later one", () => {
  const lines = logOf((log) => {
    log.changed({ state: "leading", phase: "broadcast", epoch: 5, leader }, 10);
    log.changed(looking, 20);
    log.changed({ state: "leading", phase: "discovery", epoch: 6, leader }, 30);
    log.changed({ state: "leading", phase: "broadcast", epoch: 6, leader }, 50);
  });
  expect(lines).toEqual([
    "LEADING, epoch 5, synced after 0 ms",
    "LOOKING for a leader",
    "LEADING, epoch 6, synced after 20 ms",
  ]);
});

test("from the alarm on each epoch is a warning with the number of epochs that are left", () => {
  const leads = (epoch: number) => ({ state: "leading", phase: "broadcast", epoch, leader }) as const;
  const lines = logOf((log) => {
    log.changed(leads(EPOCH_ALARM - 1), 0);
    log.changed(leads(EPOCH_ALARM), 0);
    log.changed(leads(EPOCH_ALARM), 0);
  });
  expect(lines.slice(0, 2)).toEqual([
    "LEADING, epoch 1048575, synced after 0 ms",
    "LEADING, epoch 1048576, synced after 0 ms",
  ]);
  expect(lines.slice(2)).toEqual([expect.stringMatching(/^WARN epoch 1048576 of at most 2097150: after 1048574 more/)]);
});

test("an observer names the leader that it observes", () => {
  expect(logOf((log) => log.changed({ state: "observing", phase: "broadcast", epoch: 2, leader }, 5))).toEqual([
    "OBSERVING server 3, epoch 2, synced after 0 ms",
  ]);
});

test("a role is a line with fields", () => {
  const fields: unknown[] = [];
  const add = (_: string, fieldsOfLine: LogFields): void => void fields.push(fieldsOfLine);
  const log = new RoleLog({ info: add, warn: add });
  log.changed(looking, 0);
  log.changed({ ...following, phase: "discovery" }, 100);
  log.changed({ ...following, phase: "broadcast" }, 314);
  expect(fields).toEqual([
    { event: "role", role: "looking" },
    { event: "role", role: "following", epoch: 5, peer: 3, durationMs: 214 },
  ]);
});
