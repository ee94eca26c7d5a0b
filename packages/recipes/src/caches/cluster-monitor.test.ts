import type { Client } from "@zooid/client";
import { firstValueFrom, takeWhile, toArray } from "rxjs";
import { expect, test } from "vitest";
import { GroupMember } from "../members/group-member.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { type ClusterEvent, ClusterMonitor } from "./cluster-monitor.ts";

const PATH = "/clusters/web";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

const plain = ({ type, id, data }: ClusterEvent): string => `${type} ${id} ${Buffer.from(data ?? []).toString()}`;

/** The events until a member leaves. */
function untilGone(monitor: ClusterMonitor, id: string): Promise<string[]> {
  const events$ = monitor.events$.pipe(
    takeWhile((event) => event.type !== "leave" || event.id !== id, true),
    toArray(),
  );
  return firstValueFrom(events$).then((events) => events.map(plain));
}

test("joining, changed and leaving members are reported, existing ones first", async () => {
  const first = stage.kept(new GroupMember(a, PATH, { id: "1", data: "one" }));
  await first.ready();
  using monitor = new ClusterMonitor(b, PATH);
  await monitor.ready();
  const events = untilGone(monitor, "1");
  const second = stage.kept(new GroupMember(a, PATH, { id: "2", data: "two" }));
  await second.ready();
  await a.create(`${PATH}/2/below`, "child").catch(() => "ephemerals have nothing below them");
  second.setData("2");
  await second.ready();
  await b.sync();
  await first.close();
  expect(await events).toEqual(["join 1 one", "join 2 two", "update 2 2", "leave 1 one"]);
  const [member] = monitor.members().values();
  expect(member).toEqual({ id: "2", data: new Uint8Array([0x32]), czxid: (await b.exists(`${PATH}/2`))?.czxid });
  monitor.close();
  expect(() => monitor.members()).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
});

test("a member that left and joined again while disconnected is reported as left and joined", async () => {
  const { zk, relay } = await stage.relayed();
  await a.create(`${PATH}/1`, "one", { parents: "persistent", mode: "ephemeral" });
  using monitor = new ClusterMonitor(zk, PATH);
  await monitor.ready();
  const events: string[] = [];
  monitor.events$.subscribe((event) => events.push(plain(event)));
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  await a.delete(`${PATH}/1`);
  await b.create(`${PATH}/1`, "again", { mode: "ephemeral" });
  relay.accept();
  await untilGone(monitor, "1");
  await zk.sync();
  expect(events).toEqual(["join 1 one", "leave 1 one", "join 1 again"]);
});
