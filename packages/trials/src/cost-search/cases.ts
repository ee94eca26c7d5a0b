import type { Shape } from "./shape.ts";

/**
 * The requests that earlier searches found to be expensive, and those of the issues of their time.
 * Every search begins with them.
 */
export const CASES: readonly Shape[] = [
  // Each part lists the children of a wide node.
  {
    op: "multiRead",
    count: 1500,
    parts: [{ op: "getChildren", path: { of: "wide", size: 0 }, watch: false }],
  },
  // Every ephemeral of a session is checked, and none is returned.
  { op: "getEphemerals", path: { of: "absent", size: 0 }, watch: false },
  { op: "getEphemerals", path: { of: "root", size: 0 }, watch: false },
  { op: "getChildren2", path: { of: "wide", size: 0 }, watch: false },
  // The access list is read for each part.
  { op: "multiRead", count: 3000, parts: [{ op: "getData", path: { of: "listed", size: 0 }, watch: false }] },
  { op: "create", path: { of: "scratch", size: 0 }, data: 0, acl: { of: "auth", size: 1000 }, flags: 0 },
  // As many parts as one transaction may have.
  {
    op: "multi",
    count: 15_000,
    parts: [{ op: "create", path: { of: "scratch", size: 0 }, data: 0, acl: { of: "open", size: 0 }, flags: 0 }],
  },
  { op: "multi", count: 20_000, parts: [{ op: "setData", path: { of: "many", size: 0 }, data: 100 }] },
  { op: "multi", count: 1000, parts: [{ op: "setData", path: { of: "big", size: 0 }, data: 900_000 }] },
  // Names and paths as long as a frame.
  { op: "create", path: { of: "long", size: 900_000 }, data: 0, acl: { of: "open", size: 0 }, flags: 0 },
  { op: "exists", path: { of: "deep", size: 450_001 }, watch: true },
  { op: "exists", path: { of: "absent", size: 900_000 }, watch: true },
  { op: "setWatches", path: { of: "deep", size: 10 }, counts: [0, 0, 0, 100_000, 0], isOld: false },
  { op: "setWatches", path: { of: "deep", size: 40 }, counts: [0, 0, 0, 90_000, 100_000], isOld: false },
  {
    op: "multi",
    count: 3000,
    parts: [{ op: "create", path: { of: "long", size: 200 }, data: 0, acl: { of: "open", size: 0 }, flags: 0 }],
  },
  { op: "setWatches", path: { of: "deep", size: 10_000 }, counts: [1, 3000, 10, 0, 0], isOld: true },
  { op: "multiRead", count: 12_000, parts: [{ op: "getData", path: { of: "long", size: 100_000 }, watch: false }] },
  { op: "setWatches", path: { of: "many", size: 0 }, counts: [20_000, 20_000, 0, 0, 0], isOld: true },
  // Statistics of a quota, made again and again.
  {
    op: "multi",
    count: 4000,
    parts: [
      { op: "delete", path: { of: "quota", size: 0 }, watch: false },
      { op: "create", path: { of: "quota", size: 0 }, data: 0, acl: { of: "open", size: 0 }, flags: 0 },
    ],
  },
  // A path that no node can have is read once.
  { op: "exists", path: { of: "absent", size: 1_000_000 }, watch: true },
  { op: "addWatch", path: { of: "long", size: 1_000_000 }, watch: false },
  { op: "multiRead", count: 6000, parts: [{ op: "getData", path: { of: "long", size: 90_000 }, watch: false }] },
  { op: "setWatches", path: { of: "deep", size: 40 }, counts: [0, 0, 0, 90_000, 100_000], isOld: false },
  {
    op: "multi",
    count: 2430,
    parts: [{ op: "create", path: { of: "scratch", size: 0 }, data: 1, acl: { of: "open", size: 0 }, flags: 0 }],
  },
  // A short access list that stands for all identities of the client makes a long transaction.
  { op: "create", path: { of: "scratch", size: 0 }, data: 0, acl: { of: "auth", size: 1 }, flags: 0 },
  { op: "setAcl", path: { of: "many", size: 0 }, acl: { of: "auth", size: 1 } },
  {
    op: "multi",
    count: 150,
    parts: [{ op: "create", path: { of: "scratch", size: 0 }, data: 0, acl: { of: "auth", size: 1 }, flags: 0 }],
  },
  {
    op: "multi",
    count: 3000,
    parts: [{ op: "create", path: { of: "scratch", size: 0 }, data: 0, acl: { of: "auth", size: 1 }, flags: 0 }],
  },
  // The end of a session whose ephemerals have deep or long paths.
  { op: "closeSession", path: { of: "belowDeep", size: 0 }, size: 1000 },
  { op: "closeSession", path: { of: "long", size: 16_000 }, size: 500 },
  { op: "closeSession", path: { of: "scratch", size: 0 }, size: 1000 },
  { op: "multiRead", count: 3000, parts: [{ op: "getData", path: { of: "belowDeep", size: 0 }, watch: false }] },
  { op: "setWatches", path: { of: "root", size: 0 }, counts: [0, 0, 0, 90_000, 100_000], isOld: false },
];
