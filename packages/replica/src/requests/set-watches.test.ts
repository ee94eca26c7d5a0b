import { OpCode, ZXID_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, read, setWatches } from "../testing/requests.ts";

describe("setWatches of more paths than one turn takes", () => {
  test("is answered with the last, and its client's requests behind it wait", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 4 });
    const [ref, writer] = [zk.open(), zk.open()];
    expect(zk.send(ref, 1, OpCode.SET_WATCHES, setWatches("/a", "/b", "/c", "/d", "/e"))).toBe(false);
    zk.send(ref, 2, OpCode.EXISTS, read("/"));
    zk.resumed.length = 0;
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([[], 2]);
    expect(zk.finish()).toBe(2);
    expect(zk.take(ref)).toEqual(["1 ok", expect.stringMatching(/^2 stat/)]);
    expect([zk.resumed, zk.replica.watches.watchCount]).toEqual([[ref], 5]);
    zk.ask(writer, OpCode.CREATE, create("/e"));
    expect(zk.take(ref)).toEqual(["event 1 /e"]);
  });

  test.each([
    ["deep", "/d".repeat(800)],
    ["long", `/${"n".repeat(8000)}`],
  ])("takes fewer paths a turn where they are %s", (_, path) => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 100 });
    const [deep, shallow] = [zk.open(), zk.open()];
    const paths = (prefix: string) => Array.from({ length: 7 }, (_, i) => `${prefix}/${i}`);
    zk.send(deep, 1, OpCode.SET_WATCHES, setWatches(...paths(path)));
    zk.send(shallow, 1, OpCode.SET_WATCHES, setWatches(...paths("")));
    expect([zk.replica.watches.countOf(deep), zk.replica.watches.countOf(shallow)]).toEqual([2, 7]);
    expect(zk.finish()).toBe(3);
    expect([zk.take(deep), zk.replica.watches.countOf(deep)]).toEqual([["1 ok"], 7]);
  });

  test("of many connections share a turn, and those that had none of it go first in the next", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 4 });
    const refs = [zk.open(), zk.open(), zk.open()] as const;
    for (const ref of refs) zk.send(ref, 1, OpCode.SET_WATCHES, setWatches("/a", "/b", "/c", "/d"));
    const counts = () => refs.map((ref) => zk.replica.watches.countOf(ref));
    expect(counts()).toEqual([2, 2, 2]);
    zk.replica.tick();
    expect(counts()).toEqual([3, 3, 2]);
    zk.replica.tick();
    expect(counts()).toEqual([4, 3, 3]);
    zk.finish();
    expect(refs.map((ref) => zk.take(ref))).toEqual([["1 ok"], ["1 ok"], ["1 ok"]]);
  });

  test("of very many paths decodes all of them first, also in slices", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 10 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, setWatches(...Array.from({ length: 800 }, (_, i) => `/${i}`)));
    // 320 paths are read in a turn, and 5 are taken.
    const counts = [0, 0, 2, 7].map(() => {
      const { watchCount } = zk.replica.watches;
      zk.replica.tick();
      return watchCount;
    });
    expect(counts).toEqual([0, 0, 3, 8]);
    zk.finish();
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([["1 ok"], 800]);
  });

  test("of which a later path cannot be read arms none", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 2 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, (writer) => {
      writer.zxid(ZXID_NONE);
      writer.int(200);
      for (let i = 0; i < 199; i++) writer.text(`/${i}`);
      writer.null();
    });
    zk.send(ref, 2, OpCode.EXISTS, read("/"));
    expect(zk.finish()).toBe(3);
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([
      ["1 MARSHALLING_ERROR", expect.stringMatching(/^2 stat/)],
      0,
    ]);
  });

  test("ends with its connection", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 2 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, setWatches("/a", "/b", "/c"));
    zk.replica.disconnect(ref);
    zk.finish();
    expect(zk.replica.watches.watchCount).toBe(0);
  });
});
