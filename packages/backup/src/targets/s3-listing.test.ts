import { expect, test } from "vitest";
import { parseS3Error, parseS3Listing } from "./s3-listing.ts";

const listing = (inside: string): string =>
  `<?xml version="1.0"?><ListBucketResult xmlns="x">${inside}</ListBucketResult>`;
const contents = (key: string, size: string | number): string =>
  `<Contents><Key>${key}</Key><LastModified>t</LastModified><Size>${size}</Size></Contents>`;

test("each object has its key and its size", () => {
  const text = listing(`<Name>b</Name>${contents("log/a", 0)}${contents("log/b", 123456789012345)}`);
  expect(parseS3Listing(text)).toEqual({
    objects: [
      { key: "log/a", bytes: 0 },
      { key: "log/b", bytes: 123_456_789_012_345 },
    ],
    next: undefined,
  });
  expect(parseS3Listing(listing(""))).toEqual({ objects: [], next: undefined });
});

test.each([
  ["<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>", "a&b"],
  ["<IsTruncated> true </IsTruncated><NextContinuationToken>t</NextContinuationToken>", "t"],
  ["<IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken>", undefined],
  ["<NextContinuationToken>t</NextContinuationToken>", undefined],
  ["<IsTruncated>false</IsTruncated>", undefined],
])("behind %s the next page begins at %s", (inside, next) => {
  expect(parseS3Listing(listing(inside))).toEqual({ objects: [], next });
});

test.each([
  ["no listing", "<Error><Code>AccessDenied</Code></Error>"],
  ["nothing", ""],
  ["an object without a key", listing("<Contents><Size>1</Size></Contents>")],
  ["an object without a size", listing("<Contents><Key>a</Key></Contents>")],
  ["a size below zero", listing(contents("a", -1))],
  ["a size of a word", listing(contents("a", "1e3"))],
  ["an empty size", listing(contents("a", ""))],
  ["a size of sixteen digits", listing(contents("a", "1234567890123456"))],
  ["a second object that is none", listing(`${contents("a", 1)}<Contents></Contents>`)],
  ["a page without the place of the next one", listing("<IsTruncated>true</IsTruncated>")],
  [
    "an empty place of the next one",
    listing("<IsTruncated>true</IsTruncated><NextContinuationToken></NextContinuationToken>"),
  ],
])("%s is no answer", (_name, text) => {
  expect(parseS3Listing(text)).toBeUndefined();
});

test.each([
  ["a&amp;b", "a&b"],
  ["&lt;&gt;&quot;&apos;", "<>\"'"],
  ["&#65;&#228;", "Aä"],
  ["&amp;lt;", "&lt;"],
  ["&nbsp;&unknown;&", "&nbsp;&unknown;&"],
])("the key %s is %s", (text, key) => {
  expect(parseS3Listing(listing(contents(text, 1)))?.objects).toEqual([{ key, bytes: 1 }]);
});

test("an error has its code and its words, in letters that a terminal shows, and not too many", () => {
  const error = (message: string): string => `<Error><Code>Slow\u001bDown</Code><Message>${message}</Message></Error>`;
  expect(parseS3Error(error("wait &amp; ask\n&#27;[31m"))).toEqual({ code: "Slow?Down", message: "wait & ask??[31m" });
  expect(parseS3Error(error("x".repeat(300))).message).toBe("x".repeat(200));
  expect(parseS3Error("<html>")).toEqual({ code: "", message: "" });
});
