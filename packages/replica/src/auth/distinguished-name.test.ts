import { expect, test } from "vitest";
import { isDistinguishedName } from "./distinguished-name.ts";

// What Java's X500Principal says of each.
test.each([
  ["", true],
  [" ", false],
  ["CN=a", true],
  ["cn=a,O=b", true],
  ["CN=a;O=b", true],
  ["CN=a+OU=b", true],
  ["a", false],
  ["CN", false],
  ["CN=", true],
  ["=a", false],
  ["FOO=a", false],
  ["1.2.3=a", true],
  ["OID.1.2.3=a", true],
  ["1.2.3=#0c0161", true],
  ["CN=a,", false],
  ['CN="a,b"', true],
  ["CN=a\\,b", true],
  ["CN=a=b", true],
  ["CN=#zz", false],
  ["T=x", true],
  ["TITLE=x", false],
  ["SN=1", false],
  ["SURNAME=1", true],
  ["EMAILADDRESS=x@y", true],
  ["CN= a ", true],
  ["CN =a", true],
  ["CN=<a>", false],
  [",CN=a", false],
  ["CN=a,,O=b", false],
  ["+CN=a", false],
  ["CN=a\\zb", false],
  ["CN=a\\", false],
  ['CN="a', false],
  ['CN=a"b', false],
  ["3.1.1=a", false],
])("%j is a name: %s", (text, isName) => {
  expect(isDistinguishedName(text)).toBe(isName);
});

test("a name as long as a frame takes no longer than its length asks for", () => {
  expect(isDistinguishedName(`CN=${"\\ ".repeat(400_000)}`)).toBe(true);
  expect(isDistinguishedName(`CN=${" ".repeat(800_000)}"`)).toBe(false);
});
