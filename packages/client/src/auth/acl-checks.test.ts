import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ArgumentError, Permission } from "@zooid/model";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import { isZkError } from "../errors.ts";
import { aclProblems, checkedAcl } from "./acl-checks.ts";
import { digestId } from "./identities.ts";

let server: ZooidServer;
let zk: Client;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(`127.0.0.1:${server.port}`);
});
afterAll(async () => {
  await zk.close();
  await server.stop();
});

const ANYONE = { scheme: "world", id: "anyone" };

test.each([
  ["a password in plain text", { perms: 31, scheme: "digest", id: "app:secret" }, "digestId"],
  ["a hash of another length", { perms: 31, scheme: "digest", id: "app:c2VjcmV0" }, "digestId"],
  ["permissions that are no bits", { perms: 32, ...ANYONE }, "0 to 31"],
  ["letters that mean nothing", { perms: "crwx", ...ANYONE }, '"cdrwa"'],
  ["no letters", { perms: "", ...ANYONE }, '"cdrwa"'],
  ["an unknown id of scheme world", { perms: 31, scheme: "world", id: "everyone" }, '"anyone"'],
  ["an address that is none", { perms: 31, scheme: "ip", id: "10.0.0" }, "address"],
  ["a range of too many bits", { perms: 31, scheme: "ip", id: "10.0.0.0/33" }, "address"],
  ["no scheme", { perms: 31, scheme: "", id: "" }, "scheme"],
  ["a misspelt field", { perm: 31, ...ANYONE }, "did you mean perms?"],
  ["a missing id", { perms: 31, scheme: "digest" }, "id is missing"],
  ["no object", "world:anyone:cdrwa", "an object"],
])("an access list with %s is refused before the request is sent, and makes no node", async (_, entry, part) => {
  const acl = [{ perms: 31, ...ANYONE }, entry] as never;
  const attempts = [
    () => zk.create("/refused", "", { acl }),
    () => zk.create("/refused/below", "", { acl, parents: "persistent" }),
    () => zk.put("/refused", "", { acl }),
    () => zk.with({ acl: () => acl }).create("/refused"),
    () => zk.setAcl("/", acl),
    async () => zk.with({ acl }),
    async () => zk.transaction().create("/refused", "", { acl }),
    async () => createClient("127.0.0.1:1", { acl }),
  ];
  for (const attempt of attempts) {
    const error = await attempt().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error instanceof ArgumentError || isZkError(error, "INVALID_ACL")).toBe(true);
    expect(String(error)).toContain("acl[1]");
    expect(String(error)).toContain(part);
    expect(String(error)).not.toContain("secret");
  }
  expect(await zk.exists("/refused")).toBe(null);
});

test("permissions are a number or letters, which the server stores as a number", async () => {
  await zk.create("/letters", "", { acl: [{ perms: "rwa", ...ANYONE }] });
  const { acl } = await zk.getAcl("/letters");
  expect(acl).toEqual([{ perms: Permission.READ | Permission.WRITE | Permission.ADMIN, ...ANYONE }]);
  await zk.setAcl("/letters", [{ perms: "cdrwa", ...ANYONE }]);
  expect((await zk.getAcl("/letters")).acl).toEqual([{ perms: Permission.ALL, ...ANYONE }]);
});

test.each(["md5", "sha1", "sha256", "sha512"])("an id made with %s is accepted", (hash) => {
  expect(aclProblems([{ perms: 0, scheme: "digest", id: digestId("app", "secret", hash) }])).toEqual([]);
});

test("addresses, ranges, names, and schemes of the servers' own are accepted as they are", () => {
  const acl = ["ip 10.0.0.0/8", "ip ::1", "sasl app", "x509 CN=app", "auth ", "own whatever:it:is"].map((text) => {
    const [scheme = "", id = ""] = text.split(" ");
    return { perms: 1, scheme, id };
  });
  expect(checkedAcl(acl, "create", "/a")).toEqual(acl);
});
