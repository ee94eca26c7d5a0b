import type { Client } from "@zooid/client";
import { OPEN_ACL } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ExportedNodeJson } from "../api/subtree-shapes.ts";
import { type Stage, startStage } from "../testing/stage.ts";

const ACCESS_LISTS = [
  OPEN_ACL,
  [
    { perms: 1, scheme: "world", id: "anyone" },
    ...OPEN_ACL.map(({ perms }) => ({ perms, scheme: "ip", id: "127.0.0.1" })),
  ],
  [{ perms: 31, scheme: "ip", id: "127.0.0.0/8" }],
];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const data = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 20 }),
  fc.string({ unit: "grapheme", maxLength: 10 }).map((text) => Buffer.from(text)),
  fc.string({ maxLength: 3 }).map((text) => Buffer.concat([Buffer.from(BYTE_ORDER_MARK), Buffer.from(text)])),
);
const name = fc.constantFrom("a", "b", "c", "a b", "ä", "%2F", "a.b", "-", "名");
/** Each node's parent is one of those before it. */
const subtree = fc.array(fc.record({ parent: fc.nat(30), name, data, list: fc.nat(ACCESS_LISTS.length - 1) }), {
  maxLength: 12,
});

/** Data as base64, or null, and access list of every node. */
async function contentOf(zk: Client, root: string): Promise<Readonly<Record<string, unknown>>> {
  const content: Record<string, unknown> = {};
  const visit = async (path: string): Promise<void> => {
    const { data } = await zk.get(path);
    const { acl } = await zk.getAcl(path);
    content[path.slice(root.length)] = [data === null ? null : Buffer.from(data).toString("base64"), acl];
    for (const child of (await zk.children(path)).names) await visit(`${path}/${child}`);
  };
  await visit(root);
  return content;
}

async function exported(stage: Stage, path: string, limit: number): Promise<readonly ExportedNodeJson[]> {
  const nodes: ExportedNodeJson[] = [];
  for (let after = ""; ; ) {
    const query = new URLSearchParams({ path, limit: String(limit), ...(after === "" ? {} : { after }) });
    const { json } = await stage.api("GET", `/export?${query}`);
    nodes.push(...json.nodes);
    if (json.next === null) return nodes;
    after = json.next;
  }
}

test("a subtree comes in elsewhere as it went out, whatever its names, data and access lists, in pages of any size", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(subtree, fc.integer({ min: 1, max: 9 }), async (nodes, limit) => {
      const [from, to] = [`/from${++count}`, `/to${count}`];
      await zk.create(from, null);
      const paths = [from];
      for (const { parent, name, data, list } of nodes) {
        const path = `${paths[parent % paths.length]}/${name}`;
        if (paths.includes(path)) continue;
        await zk.create(path, data, { acl: ACCESS_LISTS[list] ?? OPEN_ACL });
        paths.push(path);
      }
      const going = await exported(stage, from, limit);
      for (let i = 0; i < going.length; i += limit) {
        const nodes = going.slice(i, i + limit).map(({ path, acl, data }) => {
          if (data === null) return { path, acl, data };
          return { path, acl, data: data.text === undefined ? { base64: data.base64 } : { text: data.text } };
        });
        const body = { path: to, isDryRun: false, existing: "keep", withAcl: true, nodes };
        const { json } = await stage.api("POST", "/import", { body });
        expect(json.results.filter(({ outcome }: { outcome: string }) => outcome !== "create")).toEqual([]);
      }
      expect(await contentOf(zk, to)).toEqual(await contentOf(zk, from));
    }),
    { numRuns: 20, seed: 1 },
  );
});
