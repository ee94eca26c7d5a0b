import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { digestMd5Bytes, digestMd5Response } from "./digest-md5.ts";

const md5 = (bytes: Uint8Array): Uint8Array => createHash("md5").update(bytes).digest();

test("the example of RFC 2831, section 4", () => {
  const [user, realm, password] = ["chris", "elwood.innosoft.com", "secret"].map(digestMd5Bytes);
  const fields = {
    user: user ?? new Uint8Array(),
    realm: realm ?? new Uint8Array(),
    password: password ?? new Uint8Array(),
    nonce: "OA6MG9tEQGm2hh",
    nonceCount: "00000001",
    cnonce: "OA6MHXh6VqTrRk",
    uri: "imap/elwood.innosoft.com",
  };
  expect(digestMd5Response(fields, "client", md5)).toBe("d388dad90d4bbd760a152321f2143af7");
  expect(digestMd5Response(fields, "server", md5)).toBe("ea40f60335c427b5527b84dbabcdfffd");
});

test.each([
  ["jürgen", "6afc7267656e"],
  ["日本", "e697a5e69cac"],
])("%s is hashed in ISO 8859-1 where it fits", (text, hex) => {
  expect(Buffer.from(digestMd5Bytes(text)).toString("hex")).toBe(hex);
});
