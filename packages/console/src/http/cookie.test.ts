import { expect, test } from "vitest";
import { cookieName, cookieValue, endedCookie, sessionCookie } from "./cookie.ts";

const ALONE = { port: 8080, prefix: "" };
const TEST = { port: 8080, prefix: "/ensembles/test" };

test("consoles on other ports, and other ensembles of one port, have cookies of other names", () => {
  const places = [ALONE, TEST, { port: 8081, prefix: "" }, { port: 8080, prefix: "/ensembles/live" }];
  const names = places.map(cookieName);
  expect(names).toEqual([
    "zooid-console-8080",
    "zooid-console-8080-test",
    "zooid-console-8081",
    "zooid-console-8080-live",
  ]);
  expect(cookieName({ port: undefined, prefix: "" })).toBe("zooid-console-0");
});

test("a session's cookie is sent to its ensemble alone, by its own pages alone, and over TLS alone where it came so", () => {
  expect(sessionCookie(ALONE, "t", false)).toBe("zooid-console-8080=t; Path=/; HttpOnly; SameSite=Strict");
  expect(sessionCookie(TEST, "t", true)).toBe(
    "zooid-console-8080-test=t; Path=/ensembles/test/; HttpOnly; SameSite=Strict; Secure",
  );
});

test("the cookie of an ended session is removed from the place where it was", () => {
  for (const place of [ALONE, TEST]) {
    for (const secure of [false, true]) {
      expect(endedCookie(place, secure)).toBe(`${sessionCookie(place, "", secure)}; Max-Age=0`);
    }
  }
});

test.each([
  ["a=1", "1"],
  ["b=2; a=1", "1"],
  ["b=2;a=1;c=3", "1"],
  [" a=1 ", "1"],
  ["a=; a=1", "1"],
  ["a=1; a=2", "1"],
  ["aa=2; a=1", "1"],
  ["A=1", undefined],
  ["aa=1", undefined],
  ["a", undefined],
  ["a=", undefined],
  ["b=a=1", undefined],
  ["", undefined],
  [undefined, undefined],
])("in %j the value of a is %j", (header, value) => {
  expect(cookieValue(header, "a")).toBe(value);
});
