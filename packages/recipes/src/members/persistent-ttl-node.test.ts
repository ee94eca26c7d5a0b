import type { Client } from "@zooid/client";
import { isZkError } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, Stage, tree } from "../testing/stage.ts";
import { PersistentTtlNode } from "./persistent-ttl-node.ts";

const PATH = "/nodes/for-a-while";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged(
  (staged) => {
    ({ stage, a, b } = staged);
  },
  { ttlNodes: true, reaping: { checkIntervalMs: 20 } },
);

const text = (data: Uint8Array | null): string => Buffer.from(data ?? []).toString();

async function stands(path: string, isThere: boolean): Promise<void> {
  await firstValueFrom(b.watchExists$(path).pipe(filter((stat) => (stat !== null) === isThere)));
}

test("it stays while it is maintained, and expires after that", async () => {
  const node = stage.kept(new PersistentTtlNode(a, { path: PATH, data: "one", ttlMs: 300 }));
  await node.ready();
  // Written more often than its TTL requires.
  await firstValueFrom(b.watchExists$(`${PATH}/touch`).pipe(filter((stat) => (stat?.version ?? 0) > 4)));
  expect(await tree(b, "/nodes")).toEqual(["for-a-while", "for-a-while/touch"]);
  node.setData("two");
  await node.ready();
  expect(text((await b.get(PATH)).data)).toBe("two");
  await node.close();
  await node.close();
  expect(await b.exists(PATH)).not.toBeNull();
  await stands(PATH, false);
});

test("it is created again when it is deleted, and so is its touch node", async () => {
  const node = stage.kept(new PersistentTtlNode(a, { path: PATH, data: "one", ttlMs: 300 }));
  await node.ready();
  // Both were created in one transaction.
  expect((await b.exists(`${PATH}/touch`))?.czxid).toBe((await b.exists(PATH))?.czxid);
  await b.delete(`${PATH}/touch`);
  await stands(`${PATH}/touch`, true);
  await b.transaction().delete(`${PATH}/touch`).delete(PATH).commit();
  await stands(`${PATH}/touch`, true);
  expect(text((await b.get(PATH)).data)).toBe("one");
});

test("it fails if the server does not support such nodes", async () => {
  await using plain = await Stage.start();
  const zk = await plain.client();
  await using node = new PersistentTtlNode(zk, { path: PATH, data: "", ttlMs: 300 });
  expect(isZkError(await failure(node.ready()), "UNIMPLEMENTED")).toBe(true);
});
