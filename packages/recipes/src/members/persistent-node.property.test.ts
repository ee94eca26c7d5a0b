import fc from "fast-check";
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
    { numRuns: 40 },
  );
});
