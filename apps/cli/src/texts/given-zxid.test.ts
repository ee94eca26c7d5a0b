import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { parseFlags } from "../command-flags.ts";
import { givenMoment, givenZxid, readZxid } from "./given-zxid.ts";

const FLAGS = [{ name: "to", takesValue: true, isOwn: true }];

function flagsOf(text: string | undefined) {
  return parseFlags(FLAGS, text === undefined ? [] : ["--to", text]).flags;
}

test.each([
  ["0x300000007", composeZxid(3, 7)],
  ["0X300000007", composeZxid(3, 7)],
  ["0x0", composeZxid(0, 0)],
  ["0xabc", composeZxid(0, 0xabc)],
])("%s is a zxid", (text, zxid) => {
  expect([givenZxid(flagsOf(text), "to"), givenMoment(flagsOf(text), "to"), readZxid("it", text)]).toEqual([
    zxid,
    zxid,
    zxid,
  ]);
});

test.each(["", "7", "0x", "0xg", "x300000007", "300000007", "0x30000000000000007", "now", "2026-05-31"])(
  "%j is no zxid, and is refused with what is expected",
  (text) => {
    const found = `found ${JSON.stringify(text)}`;
    expect(() => givenZxid(flagsOf(text), "to")).toThrow(`--to takes a zxid like 0x300000007, ${found}`);
    expect(() => givenMoment(flagsOf(text), "to")).toThrow(
      `--to takes a zxid like 0x300000007 or a time like 2026-05-31T23:59:00Z, ${found}`,
    );
    expect(() => readZxid("a line", text)).toThrow(`a line takes a zxid like 0x300000007, ${found}`);
  },
);

test("a time is one where times are taken, and none elsewhere", () => {
  const time = "2026-05-31T23:59:00Z";
  expect(givenMoment(flagsOf(time), "to")).toEqual(new Date(time));
  expect(givenMoment(flagsOf("1970-01-01T00:00:00Z"), "to")).toEqual(new Date(0));
  expect(() => givenZxid(flagsOf(time), "to")).toThrow("--to takes a zxid");
  for (const wrong of ["2026-13-31T23:59:00Z", "2026-05-31T", "1969-12-31T23:59:59Z"])
    expect(() => givenMoment(flagsOf(wrong), "to")).toThrow(
      `--to takes a time like 2026-05-31T23:59:00Z, found "${wrong}"`,
    );
});

test("without the flag there is none", () => {
  expect([givenZxid(flagsOf(undefined), "to"), givenMoment(flagsOf(undefined), "to")]).toEqual([undefined, undefined]);
});
