import { digest, digestId } from "@zooid/client";
import type { AclEntry, Identity } from "@zooid/model";
import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { effectiveRights } from "./effective-rights.ts";

const ALICE: Identity = { scheme: "digest", id: "alice:hash" };
const ALL = 31;

function verdicts(acl: readonly AclEntry[] | "hidden", parentAcl: readonly AclEntry[] | "hidden", who: Identity[]) {
  const rights = effectiveRights({ path: "/a/b", identities: who, acl, parentAcl });
  return Object.fromEntries(rights.map(({ action, verdict }) => [action, verdict]));
}

const entry = (scheme: string, id: string, perms: number): AclEntry => ({ scheme, id, perms });

test.each([
  ["an entry of the user", [entry("digest", "alice:hash", 3)], [ALICE], { read: "yes", write: "yes", "set-acl": "no" }],
  ["an entry of another password", [entry("digest", "alice:other", ALL)], [ALICE], { read: "no", "set-acl": "no" }],
  ["an entry whose hash is hidden", [entry("digest", "alice:x", 1)], [ALICE], { read: "likely", write: "no" }],
  ["a hidden hash of another name", [entry("digest", "bob:x", 1)], [ALICE], { read: "no" }],
  ["everyone", [entry("world", "anyone", 1)], [], { read: "yes", write: "no" }],
  [
    "an address within a range",
    [entry("ip", "10.0.0.0/8", 5)],
    [{ scheme: "ip", id: "10.1.2.3" }],
    { read: "yes", "create-children": "yes", write: "no" },
  ],
  ["an address outside", [entry("ip", "10.0.0.0/8", 5)], [{ scheme: "ip", id: "11.1.2.3" }], { read: "no" }],
  ["the superuser", [entry("digest", "bob:hash", 1)], [{ scheme: "super", id: "" }], { read: "yes", delete: "yes" }],
] as const)("%s decides", (_what, acl, who, expected) => {
  expect(verdicts(acl, [], [...who])).toMatchObject(expected);
});

test("the parent decides whether a node is deleted", () => {
  const own = [entry("world", "anyone", ALL)];
  expect(verdicts(own, [entry("world", "anyone", ALL - 8)], [])).toMatchObject({
    delete: "no",
    "delete-children": "yes",
  });
  expect(verdicts(own, "hidden", [])).toMatchObject({ delete: "unknown" });
});

test("a hidden list refuses what reading it would take, and leaves the rest unknown", () => {
  expect(verdicts("hidden", [], [])).toEqual({
    read: "no",
    "set-acl": "no",
    write: "unknown",
    "create-children": "unknown",
    "delete-children": "unknown",
    delete: "no",
  });
});

test("the verdicts are those of the server", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  await zk.create("/a", "x", {
    acl: [
      { perms: 19, scheme: "digest", id: digestId("alice", "secret") },
      { perms: 1, scheme: "ip", id: "127.0.0.0/8" },
    ],
  });
  const alice = { headers: { Authorization: "digest alice:secret" } };
  const { json } = await stage.api("GET", "/rights?path=/a", alice);
  expect(json).toMatchObject({ isSuperuser: false, everyone: [] });
  expect(json.identities).toEqual([
    { scheme: "digest", id: digestId("alice", "secret") },
    { scheme: "ip", id: "127.0.0.1" },
  ]);
  const found = Object.fromEntries(
    json.rights.map(({ action, verdict }: { action: string; verdict: string }) => [action, verdict]),
  );
  expect(found).toEqual({
    read: "yes",
    write: "yes",
    "create-children": "no",
    "delete-children": "no",
    delete: "yes",
    "set-acl": "yes",
  });
  await zk.addAuth("digest", digest("alice", "secret").auth);
  await zk.set("/a", "y");
  await expect(zk.create("/a/b")).rejects.toThrow();
  const anonymous = (await stage.api("GET", "/rights?path=/a")).json.rights;
  expect(anonymous.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["yes", "no", "no", "no", "yes", "no"]);
});
