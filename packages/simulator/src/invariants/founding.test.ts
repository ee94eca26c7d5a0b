import { describe, expect, test } from "vitest";
import { diskWith, Founding, S1, S2, S3 } from "../testing/founding.ts";
import { checkFounding } from "./founding.ts";

/** Server 3 has data, and servers 1 and 2 have what attempts left there. */
function besideData(one: number, two: number): Founding {
  const founding = new Founding({}, (sid) => (sid === S3 ? undefined : diskWith(sid, left(sid === S1 ? one : two))));
  founding.serveAlone(S3, "/a");
  founding.start(S1, S2, S3);
  return founding;
}

const left = (attempt: number) => ({ held: attempt, promised: attempt });

describe("F1: beside data, an epoch is named", () => {
  test.each([
    ["without a history", 0, 2],
    ["by a server whose attempt no other one is part of", 1, 2],
  ])("by none %s", (_, one, two) => {
    const { cluster } = besideData(one, two);
    const server = cluster.running().find(({ sid }) => sid === S1);
    if (server === undefined) throw new Error("server 1 is up");
    expect(() => checkFounding(server, cluster)).toThrow(/F1.*beside server 3, which has data/);
  });

  test("by a server of an attempt that a quorum is part of", () => {
    const { cluster } = besideData(1, 1);
    for (const server of cluster.running()) if (server.sid !== S3) checkFounding(server, cluster);
  });
});
