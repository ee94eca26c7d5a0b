import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { RoleLog } from "./role-log.ts";

function logOf(run: (log: RoleLog) => void): readonly string[] {
  const lines: string[] = [];
  run(new RoleLog((text) => lines.push(text)));
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

test("an observer names the leader that it observes", () => {
  expect(logOf((log) => log.changed({ state: "observing", phase: "broadcast", epoch: 2, leader }, 5))).toEqual([
    "OBSERVING server 3, epoch 2, synced after 0 ms",
  ]);
});

test("a role is a line with fields", () => {
  const fields: unknown[] = [];
  const log = new RoleLog((_, fieldsOfLine) => fields.push(fieldsOfLine));
  log.changed(looking, 0);
  log.changed({ ...following, phase: "discovery" }, 100);
  log.changed({ ...following, phase: "broadcast" }, 314);
  expect(fields).toEqual([
    { event: "role", role: "looking" },
    { event: "role", role: "following", epoch: 5, peer: 3, durationMs: 214 },
  ]);
});
