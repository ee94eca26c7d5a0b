import { type Client, json } from "@zooid/client";
import { firstValueFrom, takeWhile, toArray } from "rxjs";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { Topic } from "./topic.ts";

const PATH = "/topics/price";

interface Price {
  readonly cents: number;
}

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

const topic = (zk: Client): Topic<Price> => new Topic(zk, PATH, json<Price>());

/** The values up to a price. */
function heard(zk: Client, last: number): Promise<number[]> {
  return firstValueFrom(
    topic(zk).messages$.pipe(
      takeWhile(({ cents }) => cents !== last, true),
      toArray(),
    ),
  ).then((messages) => messages.map(({ cents }) => cents));
}

test("all subscribers get each value, and late ones the last", async () => {
  expect(await topic(a).latest()).toBeUndefined();
  const early = heard(b, 3);
  await topic(a).publish({ cents: 1 });
  await topic(a).publish({ cents: 2 });
  const late = await stage.client();
  expect(await firstValueFrom(topic(late).messages$)).toEqual({ cents: 2 });
  expect(await topic(b).latest()).toEqual({ cents: 2 });
  await topic(a).publish({ cents: 3 });
  const messages = await early;
  expect(messages.at(-1)).toBe(3);
  expect(messages).toEqual([...messages].sort());
});

test("the last value published while disconnected arrives after it", async () => {
  const { zk, relay } = await stage.relayed();
  await topic(a).publish({ cents: 1 });
  const messages = heard(zk, 3);
  await zk.sync();
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  await topic(a).publish({ cents: 2 });
  await topic(a).publish({ cents: 3 });
  relay.accept();
  expect(await messages).toEqual([1, 3]);
});
