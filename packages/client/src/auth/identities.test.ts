import { startServer } from "@zooid/embedded-server";
import { Permission } from "@zooid/model";
import { expect, test } from "vitest";
import { connect } from "../connect.ts";
import { CREATOR_ALL_ACL, digest, digestId } from "./identities.ts";

test("a user's id in access lists is the one that the server derives from the password", async () => {
  expect(digestId("super", "test")).toBe("super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
  await using server = await startServer({ port: 0 });
  await using alice = await connect(server.connectString, { auth: [digest("alice", "secret")], acl: CREATOR_ALL_ACL });
  await using bob = await connect(server.connectString, { auth: [digest("bob", "pass:word")] });
  await alice.create("/hers");
  await expect(bob.get("/hers")).rejects.toMatchObject({ code: "NO_AUTH" });
  const forBob = { perms: Permission.READ, scheme: "digest", id: digestId("bob", "pass:word") };
  await alice.create("/for-bob", "x", { acl: [...CREATOR_ALL_ACL, forBob] });
  expect((await bob.get("/for-bob")).stat.dataLength).toBe(1);
  await expect(bob.create("/nobodys", "", { acl: [{ ...forBob, scheme: "none" }] })).rejects.toMatchObject({
    code: "INVALID_ACL",
  });
});
