import { expect, test } from "vitest";
import type { Role } from "../access/role.ts";
import { isRevealedTo, looksSecret, maskedData } from "./masking.ts";

test.each([
  ...["password", "passwd", "pwd", "secret", "token", "credential", "credentials"],
  ...[
    "private-key",
    "private_key",
    "private.key",
    "privatekey",
    "privateKey",
    "api-key",
    "apikey",
    "apiKey",
    "API_KEY",
  ],
  ...["PASSWORD", "db-password", "db_password", "dbPassword", "password.txt", "my.token.2", "secret-0000000001"],
])("a node %s looks like a secret, wherever it is", (name) => {
  expect([`/${name}`, `/app/${name}`, `/passwords/${name}`].map(looksSecret)).toEqual([true, true, true]);
});

test.each([
  ...["", "tokens", "tokenizer", "passwords", "secretary", "keys", "key", "apikeys", "bypass", "mypassword", "pwdx"],
])("a node %j looks like no secret, also below one", (name) => {
  expect([`/${name}`, `/password/${name}`].map(looksSecret)).toEqual([false, false]);
});

test.each<[Role, "true" | "false" | undefined, boolean | "refused"]>([
  ["viewer", undefined, false],
  ["viewer", "false", false],
  ["viewer", "true", "refused"],
  ["editor", undefined, false],
  ["editor", "false", false],
  ["editor", "true", true],
  ["operator", "false", false],
  ["operator", "true", true],
])("to the role %s with reveal=%s masked data are shown: %s", (role, reveal, expected) => {
  if (expected === "refused") expect(() => isRevealedTo(role, reveal)).toThrow("Masked data is shown to editors only");
  else expect(isRevealedTo(role, reveal)).toBe(expected);
});

test("data are masked where there are any, the name is a secret's, and they were not asked for", () => {
  const data = Buffer.from("x");
  const shown = { data: { base64: "eA==", text: "x" }, isMasked: false };
  expect(maskedData("/a/password", data, false)).toEqual({ data: null, isMasked: true });
  expect(maskedData("/a/password", data, true)).toEqual(shown);
  expect(maskedData("/a/b", data, false)).toEqual(shown);
  expect(maskedData("/a/password", new Uint8Array(), false)).toMatchObject({ isMasked: false, data: { base64: "" } });
  expect(maskedData("/a/password", null, false)).toEqual({ data: null, isMasked: false });
  expect(maskedData("/a/b", null, false)).toEqual({ data: null, isMasked: false });
});
