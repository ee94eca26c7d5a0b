import { expect, test } from "vitest";
import { isSecret, withoutSecrets } from "./secrets.ts";

test.each([
  "addauth digest u:hidden",
  "ADDAUTH digest u:hidden",
  "AddAuth digest u:hidden",
  "addauht digest u:hidden",
  "adauth digest u:hidden",
  '"addauth" digest u:hidden',
  "  addauth   sasl hidden",
  "connect addauth digest u:hidden",
  "help addauth digest u:hidden",
  "server drain --auth 'digest u:hidden'",
  "server drain --auth=digest u:hidden",
  "member add 3 --auht 'digest u:hidden'",
  "member list '--auth' hidden",
  "login digest u:hidden",
  "server drain --admin http://u:hidden@zk1:8080",
  "server drain --admin=http://u:hidden@zk1:8080",
  "server drain --admin 'http://u:hid hidden@zk1:8080'",
  "server drain --admin u:hidden@zk1:8080",
  "set /db postgres://u:hidden@db/app",
])("the line %s keeps no credentials", (line) => {
  expect(isSecret(line)).toBe(true);
  expect(withoutSecrets(line)).not.toContain("hidden");
});

test.each([
  "ls /",
  "get /auth/digest",
  "setAcl /a digest:u:5WYbBXKYJ2HTGQXOJBfnmDEAeGQ=:cdrwa",
  "create /digest value",
  "set /a 'the auth of a digest'",
  "ls -R /a",
  "stat -w /a",
  "help",
  "server drain --admin http://zk1:8080",
  "set /mail someone@example.org",
  "set /page http://example.org/",
  "create /admin someone@example.org",
  "history",
])("the line %s is kept", (line) => {
  expect(withoutSecrets(line)).toBe(line);
});
