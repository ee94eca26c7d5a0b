import { expect, test } from "vitest";
import { leader, zxidAt } from "../testing/leader-packets.ts";
import { position } from "../testing/observed.ts";
import { ScriptedLeader } from "../testing/scripted-leader.ts";
import { follow } from "./apache-follower.ts";

test("as many sessions as a call may touch fit into the thread, and go with one ping after the other", async () => {
  await using apache = await ScriptedLeader.start();
  await using follower = follow(apache.hosts, { after: position(5, 3) });
  const link = await apache.link();
  await link.establish(5);
  const touches = Array.from({ length: 1_000_000 }, (_, i) => ({ id: BigInt(i), timeoutMs: 4000 }));
  expect(() => follower.touch([...touches, ...touches.slice(0, 1)])).toThrow("at most 1000000 sessions");
  follower.touch(touches);
  let count = 0;
  for (let i = 4; count < touches.length; i++) {
    link.send(leader.inform(zxidAt(5, i)), leader.ping(zxidAt(5, i)));
    const { data } = await link.next();
    const bytes = data?.length ?? 0;
    expect(bytes).toBeLessThanOrEqual(50_000 * 12);
    count += bytes / 12;
  }
  expect(count).toBe(touches.length);
  expect(follower.status.disconnectCount).toBe(0);
});
