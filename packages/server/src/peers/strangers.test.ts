import { expect, test } from "vitest";
import { Strangers } from "./strangers.ts";

const MEMBER = "10.0.0.1";

function filled(): Strangers<string> {
  const strangers = new Strangers<string>((address) => address === MEMBER);
  for (let i = 0; i < 256; i++) expect(strangers.add(`stranger ${i}`, `10.1.0.${i}`)).toBeUndefined();
  return strangers;
}

test("the oldest stranger makes room for a new one", () => {
  const strangers = filled();
  expect(strangers.add("new", "10.2.0.1")).toBe("stranger 0");
  strangers.delete("stranger 1");
  expect(strangers.add("newer", "10.2.0.2")).toBeUndefined();
  expect(strangers.add("newest", "10.2.0.3")).toBe("stranger 2");
});

test("a server's address has room of its own, and its connections make room for each other only", () => {
  const strangers = filled();
  for (let i = 0; i < 64; i++) expect(strangers.add(`member ${i}`, MEMBER)).toBeUndefined();
  expect(strangers.add("another", MEMBER)).toBe("member 0");
  expect(strangers.add("stranger", "10.2.0.1")).toBe("stranger 0");
  expect([...strangers]).toHaveLength(64 + 256);
});

test("one address has sixteen connections, a server's is not refused", () => {
  const strangers = new Strangers<number>((address) => address === MEMBER);
  for (let i = 0; i < 16; i++) {
    expect(strangers.isRefused("10.1.0.1")).toBe(false);
    strangers.add(i, "10.1.0.1");
    strangers.add(i + 100, MEMBER);
  }
  expect(["10.1.0.1", "10.1.0.2", MEMBER].map((address) => strangers.isRefused(address))).toEqual([true, false, false]);
});

test("addresses of one /64 count together, but for a server's", () => {
  const member = "2001:db8:0:0:0:0:0:1";
  const strangers = new Strangers<number>((address) => address === member);
  for (let i = 0; i < 16; i++) strangers.add(i, `2001:db8:0:0:0:0:1:${i.toString(16)}`);
  expect(strangers.isRefused("2001:db8:0:0:0:0:2:1")).toBe(true);
  expect(strangers.isRefused("2001:db8:0:1:0:0:2:1")).toBe(false);
  expect(strangers.isRefused(member)).toBe(false);
});
