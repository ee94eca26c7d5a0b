import fc from "fast-check";
import { filter } from "rxjs";
import { expect, test } from "vitest";
import { Stage } from "../testing/stage.ts";
import { PersistentNode, type PersistentNodeState } from "./persistent-node.ts";

/**
 * `hold next answers` lets those of requests that are under way pass, as the one before a write.
 * `pass` is a round trip of another client, in which requests and answers may arrive.
 */
const ACTS = [
  "set",
  "set",
  "set",
  "hold answers",
  "hold next answers",
  "hold requests",
  "release",
  "pass",
  "pass",
  "cut",
] as const;

const given = fc.record({
  mode: fc.constantFrom("ephemeral", "persistent"),
  whenTaken: fc.constantFrom("wait", "takeOver"),
  acts: fc.array(fc.constantFrom(...ACTS), { minLength: 5, maxLength: 30, size: "max" }),
});

test("the newest data arrive, and the name stays, in any order of calls and answers", async () => {
  await using stage = await Stage.start();
  const witness = await stage.client();
  const { zk, relay } = await stage.relayed();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(given, async ({ acts, mode, whenTaken }) => {
      const path = `/nodes/${runs++}`;
      await using node = new PersistentNode(zk, { path, data: "first", mode, whenTaken });
      const states: PersistentNodeState[] = [];
      node.state$.subscribe((state) => states.push(state));
      let isOver = false;
      const hold = (): void => {
        if (!isOver) relay.freeze("answers");
      };
      let newest = "first";
      for (const [i, act] of acts.entries()) {
        if (act === "set") {
          newest = `${i}`;
          node.setData(newest);
        } else if (act === "hold next answers") void zk.sync().then(hold, () => {});
        else if (act === "hold answers") relay.freeze("answers");
        else if (act === "hold requests") relay.freeze("requests");
        else if (act === "pass") await witness.sync();
        else if (act === "cut") relay.cut();
        else relay.thaw();
      }
      isOver = true;
      relay.thaw();
      await node.ready();
      const { data } = await witness.get(path);
      expect(Buffer.from(data ?? []).toString()).toBe(newest);
      expect(states).not.toContain("replaced");
    }),
    { numRuns: 25 },
  );
});

const OWNER_ACTS = ["set", "set", "hold answers", "hold requests", "release", "pass", "cut"] as const;

test("of two owners one remains with its newest data, in any order of calls and answers", async () => {
  await using stage = await Stage.start();
  const witness = await stage.client();
  const sides = [await stage.relayed(), await stage.relayed()];
  const steps = fc.array(fc.record({ owner: fc.constantFrom(0, 1), act: fc.constantFrom(...OWNER_ACTS) }), {
    minLength: 5,
    maxLength: 30,
    size: "max",
  });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (acts) => {
      const path = `/nodes/${runs++}`;
      const owners = sides.map(({ zk, relay }, i) => ({
        node: new PersistentNode(zk, { path, data: `first ${i}`, mode: "persistent", whenTaken: "takeOver" }),
        relay,
        newest: `first ${i}`,
        isReplaced: false,
      }));
      const isOneReplaced = new Promise<void>((resolve) => {
        for (const owner of owners) {
          owner.node.state$.pipe(filter((state) => state === "replaced")).subscribe(() => {
            owner.isReplaced = true;
            resolve();
          });
        }
      });
      for (const [i, { owner: at, act }] of acts.entries()) {
        const owner = owners[at];
        if (owner === undefined) continue;
        if (act === "set" && !owner.isReplaced) {
          owner.newest = `${i}`;
          owner.node.setData(owner.newest);
        } else if (act === "hold answers") owner.relay.freeze("answers");
        else if (act === "hold requests") owner.relay.freeze("requests");
        else if (act === "pass") await witness.sync();
        else if (act === "cut") owner.relay.cut();
        else owner.relay.thaw();
      }
      for (const { relay } of sides) relay.thaw();
      await isOneReplaced;
      const kept = owners.find(({ isReplaced }) => !isReplaced);
      await kept?.node.ready();
      expect(Buffer.from((await witness.get(path)).data ?? []).toString()).toBe(kept?.newest);
      for (const { node } of owners) await node.close();
      expect(await witness.exists(path)).toBeNull();
    }),
    { numRuns: 20 },
  );
});
