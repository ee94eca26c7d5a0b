import { type Acl, OPEN_ACL } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AclEntryJson } from "../api/shapes.ts";
import { startStage } from "../testing/stage.ts";

const PRESENT_LISTS: readonly Acl[] = [
  OPEN_ACL,
  OPEN_ACL,
  [{ perms: 1, scheme: "world", id: "anyone" }],
  [{ perms: 1 | 4, scheme: "world", id: "anyone" }],
  [{ perms: 1 | 2 | 16, scheme: "world", id: "anyone" }],
];
const world = (...permissions: AclEntryJson["permissions"]): AclEntryJson[] => [
  { scheme: "world", id: "anyone", permissions },
];
const LISTS: readonly (AclEntryJson[] | undefined)[] = [
  undefined,
  world("read", "write", "create", "delete", "admin"),
  world("read", "create"),
  world("read", "write", "admin"),
  world("read"),
  [{ scheme: "nosuch", id: "x", permissions: ["read"] }],
  [{ scheme: "ip", id: "999.1.1.1", permissions: ["read"] }],
  [{ scheme: "world", id: "somebody", permissions: ["read"] }],
  // The requester has no identity that it could stand for.
  [{ scheme: "auth", id: "", permissions: ["read"] }],
];
const PATHS = ["", "/a", "/a/b", "/a/b/c", "/e", "/e/x"];

const present = fc.uniqueArray(
  fc.record({ path: fc.constantFrom("", "/a", "/a/b"), list: fc.nat(PRESENT_LISTS.length - 1) }),
  { selector: ({ path }) => path },
);
const incoming = fc.array(
  fc.record({
    path: fc.constantFrom(...PATHS),
    data: fc.constantFrom("old", "new"),
    list: fc.nat(LISTS.length - 1),
  }),
  { minLength: 1, maxLength: 8 },
);

test("a dry run promises what the import does", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      ...[present, incoming, fc.constantFrom("keep", "replace"), fc.boolean(), fc.boolean()],
      async (there, nodes, existing, withAcl, hasEphemeral) => {
        const root = `/t${++count}/root`;
        const sorted = there.toSorted((a, b) => a.path.length - b.path.length);
        for (const { path } of sorted)
          await zk.create(`${root}${path}`, "old", { parents: "persistent" }).catch(() => 0);
        if (hasEphemeral && (await zk.exists(root)) !== null)
          await zk.create(`${root}/e`, "old", { mode: "ephemeral" });
        for (const { path, list } of sorted) await zk.setAcl(`${root}${path}`, PRESENT_LISTS[list] ?? OPEN_ACL);
        const run = async (isDryRun: boolean): Promise<readonly string[]> => {
          const given = nodes.map(({ path, data, list }) => ({ path, data: { text: data }, acl: LISTS[list] ?? null }));
          const body = { path: root, isDryRun, existing, withAcl, nodes: given };
          const { json } = await stage.api("POST", "/import", { body });
          return json.results.map(({ path, outcome }: { path: string; outcome: string }) => `${outcome} ${path}`);
        };
        const promised = await run(true);
        expect(await run(false)).toEqual(promised);
      },
    ),
    { numRuns: 20, seed: 1 },
  );
});
