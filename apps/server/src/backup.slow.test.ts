import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BackupCheck, openTarget, verifyBackup } from "@zooid/backup";
import { planRestore } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { clientOf, eachInDirectory, leaderOf, others, started, until } from "./testing/ensemble-processes.ts";

const directory = eachInDirectory();

const backup = (): string => join(directory(), "backup");

/** The number of the server that uploads; undefined while none does. */
function holder(): number | undefined {
  const file = join(backup(), "lease.json");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const digits = /"holder":"server (\d+)"/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function check(): Promise<BackupCheck> {
  const scratch = join(directory(), "scratch");
  mkdirSync(scratch, { recursive: true });
  return verifyBackup(openTarget({ target: backup() }), scratch);
}

test("members of an ensemble continue each other's backup, without a gap, when the one that uploads stops", async () => {
  mkdirSync(backup());
  const members = await started(3, {
    settings: ["zooid.history.retainMs=3600000", "zooid.history.fileMs=200", `zooid.backup.target=${backup()}`],
  });
  const leader = await leaderOf(members);
  const client = await clientOf([leader, ...others(members, leader)]);
  await client.create("/a", "0");
  await until("upload", holder);
  const first = members.find(({ sid }) => sid === holder()) ?? expect.unreachable("it is a member");
  await client.set("/a", "1");
  // It frees the lease, and the others need not wait until it is old.
  await first.end("SIGTERM");
  await until("upload by another one", () => (holder() === first.sid ? undefined : holder()));
  await client.connected();
  const { mzxid } = await client.set("/a", "2");
  const isWhole = ({ end, problems }: BackupCheck): boolean =>
    end !== undefined && end >= Number(mzxid) && problems.length === 0;
  await until("whole backup with the last write", async () => isWhole(await check()) || undefined);
  const plan = planRestore(backup());
  expect(plan.zxid).toBeGreaterThanOrEqual(Number(mzxid));
  expect(plan.warnings).toEqual([]);
});
