import { ErrorCode, OpCode, parentPath, type Request, sequenceSuffix, sliceText } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { check, create, remove, setData, TestTree } from "./testing/tree.ts";

interface Naive {
  data: string | null;
  czxid: number;
  mzxid: number;
  pzxid: number;
  ctime: number;
  mtime: number;
  version: number;
  created: number;
  readonly isEphemeral: boolean;
}

/**
 * Sections 3.5 and 5 of docs/reference/client-protocol.md, said once more in the plainest way:
 * paths to objects, one request at a time.
 */
class NaiveTree {
  readonly nodes = new Map<string, Naive>();

  constructor() {
    for (const path of ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"]) {
      this.nodes.set(path, { ...this.#born(0, 0, false), data: "" });
    }
  }

  childrenOf(path: string): string[] {
    return [...this.nodes.keys()].filter((other) => other !== "/" && parentPath(other) === path);
  }

  perform(request: Request, zxid: number, timeMs: number): ErrorCode {
    const path = sliceText(request.path);
    const data = request.hasData ? sliceText(request.data) : null;
    if (request.op === OpCode.CREATE) return this.#create(path, data, request.flags, zxid, timeMs);
    if (request.op === OpCode.DELETE && path === "/") return ErrorCode.BAD_ARGUMENTS;
    if (request.op !== OpCode.DELETE && path !== "/" && path.endsWith("/")) return ErrorCode.BAD_ARGUMENTS;
    const node = this.nodes.get(path);
    if (node === undefined) return ErrorCode.NO_NODE;
    if (request.version !== -1 && request.version !== node.version) return ErrorCode.BAD_VERSION;
    if (request.op === OpCode.DELETE) {
      if (this.childrenOf(path).length > 0) return ErrorCode.NOT_EMPTY;
      this.nodes.delete(path);
      const parent = this.nodes.get(parentPath(path));
      if (parent !== undefined) parent.pzxid = zxid;
    } else if (request.op === OpCode.SET_DATA) {
      Object.assign(node, { data, version: node.version + 1, mzxid: zxid, mtime: timeMs });
    }
    return ErrorCode.OK;
  }

  #create(asked: string, data: string | null, flags: number, zxid: number, timeMs: number): ErrorCode {
    const parent = this.nodes.get(parentPath(asked));
    if (parent === undefined) return ErrorCode.NO_NODE;
    const path = flags >= 2 ? asked + sequenceSuffix(parent.created) : asked;
    if (path !== "/" && path.endsWith("/")) return ErrorCode.BAD_ARGUMENTS;
    if (this.nodes.has(path)) return ErrorCode.NODE_EXISTS;
    if (parent.isEphemeral) return ErrorCode.NO_CHILDREN_FOR_EPHEMERALS;
    this.nodes.set(path, { ...this.#born(zxid, timeMs, (flags & 1) !== 0), data });
    parent.created++;
    parent.pzxid = zxid;
    return ErrorCode.OK;
  }

  #born(zxid: number, timeMs: number, isEphemeral: boolean): Naive {
    const times = { czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: timeMs, mtime: timeMs };
    return { ...times, data: null, version: 0, created: 0, isEphemeral };
  }
}

const path = fc.constantFrom("/a", "/b", "/a/x", "/a/y", "/a/x/z", "/a/", "/", "/q-", "/a/q-0000000000");
const data = fc.constantFrom(null, "", "x", "y".repeat(200));
const version = fc.constantFrom(-1, -1, 0, 1, 2);
const write: fc.Arbitrary<Request> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(path, data, fc.nat(3)).map(([path, data, flags]) => create(path, { data, flags })) },
  { weight: 3, arbitrary: fc.tuple(path, version).map(([path, version]) => remove(path, version)) },
  { weight: 3, arbitrary: fc.tuple(path, data, version).map(([path, data, version]) => setData(path, data, version)) },
  { weight: 1, arbitrary: fc.tuple(path, version).map(([path, version]) => check(path, version)) },
);

test("answers, Stats, data and children are those of the plainest tree there is", () => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 10, maxLength: 60 }), (requests) => {
      const test = new TestTree();
      const naive = new NaiveTree();
      for (const request of requests) {
        const code = test.commit(request);
        const { zxid, timeMs } = test.history[test.history.length - 1].header;
        expect(code).toBe(naive.perform(request, zxid, timeMs));
      }
      expect(test.tree.nodeCount).toBe(naive.nodes.size + 1);
      for (const [path, node] of naive.nodes) {
        const children = naive.childrenOf(path);
        const { czxid, mzxid, pzxid, ctime, mtime, version, created, isEphemeral } = node;
        expect({ path, ...test.stat(path) }).toEqual({
          path,
          czxid,
          mzxid,
          pzxid,
          ctime,
          mtime,
          version,
          cversion: 2 * created - children.length,
          aversion: path === "/zookeeper/config" ? -1 : 0,
          ephemeralOwner: isEphemeral ? 2 ** 32 + 1 : 0,
          dataLength: node.data?.length ?? 0,
          numChildren: children.length,
        });
        expect(test.data(path)).toBe(node.data);
        expect(test.children(path).map((name) => (path === "/" ? `/${name}` : `${path}/${name}`))).toEqual(
          children.sort(),
        );
      }
    }),
    { numRuns: 300 },
  );
});
