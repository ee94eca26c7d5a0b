import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryTarget } from "../targets/directory-target.ts";
import { NO_FACTS, type SharedFacts } from "./shared-facts.ts";
import { UploadLease } from "./upload-lease.ts";

const FACTS: SharedFacts = { ...NO_FACTS, gapCount: 3, passedMs: 1000 };
let place: TemporaryDirectory;
let nowMs: number;
beforeEach(() => {
  place = new TemporaryDirectory();
  nowMs = 5000;
});
afterEach(() => place[Symbol.dispose]());

function leaseOf(holder: string): UploadLease {
  return new UploadLease({ target: new DirectoryTarget(place.path), holder, leaseMs: 100, nowMs: () => nowMs });
}

async function kindOf(lease: UploadLease): Promise<string> {
  return (await lease.take(NO_FACTS)).kind;
}

test("the first server has it, others learn of it and of what it says", async () => {
  const [one, other] = [leaseOf("server 1"), leaseOf("server 2")];
  expect(await one.take(FACTS)).toEqual({ kind: "held" });
  expect(await other.take(NO_FACTS)).toEqual({ kind: "others", holder: "server 1", facts: FACTS });
});

test("it is renewed for as long as its holder takes it", async () => {
  const [one, other] = [leaseOf("server 1"), leaseOf("server 2")];
  for (let i = 0; i < 10; i++) {
    expect([await kindOf(one), await kindOf(other)]).toEqual(["held", "others"]);
    nowMs += 90;
  }
});

test("without a renewal another server takes it, and the first one learns of that", async () => {
  const [one, other] = [leaseOf("server 1"), leaseOf("server 2")];
  await one.take(NO_FACTS);
  expect(await kindOf(other)).toBe("others");
  nowMs += 99;
  expect(await kindOf(other)).toBe("others");
  nowMs += 1;
  expect(await kindOf(other)).toBe("held");
  expect(await one.keep(NO_FACTS)).toBe(false);
  expect(await kindOf(one)).toBe("others");
});

test("a server that comes back has its own at once", async () => {
  await leaseOf("server 1").take(NO_FACTS);
  expect(await kindOf(leaseOf("server 1"))).toBe("held");
});

test("a lease that is freed is another server's at once, and that of another is not freed", async () => {
  const [one, other] = [leaseOf("server 1"), leaseOf("server 2")];
  await one.take(NO_FACTS);
  await other.free();
  expect(await kindOf(other)).toBe("others");
  await one.free();
  expect(await kindOf(other)).toBe("held");
});

test.each(["", "{}", "null", '{"holder":7}', '{"holder":"\\u001b[31m"}', '{"holder":"server 1","facts":{"end":"x"}}'])(
  "%j is a lease that is not renewed",
  async (text) => {
    writeFileSync(join(place.path, "lease.json"), text);
    const lease = leaseOf("server 2");
    expect(await kindOf(lease)).toBe("others");
    nowMs += 100;
    expect(await kindOf(lease)).toBe("held");
  },
);
