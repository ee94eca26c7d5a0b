import { unkeyedHash32 } from "@zooid/model";
import { expect, test } from "vitest";
import { PathIndex } from "./path-index.ts";

/** Eight bytes in two forms, which MurmurHash3-32 takes to one state whatever stood before them. */
const FORMS = ["˜&c^T!q", "#>GX^TҬ"] as const;
const NAME_COUNT = 4096;
const NAMES: readonly Buffer[] = Array.from({ length: NAME_COUNT }, (_, n) =>
  Buffer.from(Array.from({ length: 12 }, (_, pair) => FORMS[((n >>> pair) & 1) as 0 | 1]).join("")),
);

/** The bytes, and how often one of them is read. */
function counted(bytes: Uint8Array): { readonly bytes: Uint8Array; readCount: number } {
  const count = {
    readCount: 0,
    bytes: new Proxy(bytes, {
      get(target, property): unknown {
        count.readCount++;
        return Reflect.get(target, property, target);
      },
    }),
  };
  return count;
}

test("names that collide under a hash without a key are looked up like others", () => {
  expect(new Set(NAMES.map((name) => unkeyedHash32(name, 0, name.length, 77))).size).toBe(1);
  const index = new PathIndex({ k0: 5, k1: 6 });
  index.add(1, -1, Buffer.alloc(0), 0, 0);
  for (const [i, name] of NAMES.entries()) index.add(i + 2, 0, name, 0, name.length);
  let readCountMax = 0;
  for (const [i, name] of NAMES.entries()) {
    if (i % 100 !== 99) continue;
    const count = counted(name);
    expect(index.child(0, count.bytes, 0, name.length)).toBe(i + 1);
    readCountMax = Math.max(readCountMax, count.readCount);
  }
  // Once for the hash, once for the name that is found, and for some in the places between.
  expect(readCountMax).toBeLessThan(NAME_COUNT / 2);
});
