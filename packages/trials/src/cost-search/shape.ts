import type { Random } from "@zooid/conformance/internal/random";

/**
 * A request as the search knows it: what it is made of, without its bytes. `size` means bytes of a
 * name, components of a path, or entries of a list, by what it stands beside.
 */
export interface PathShape {
  readonly of: PathKind;
  readonly size: number;
}

/**
 * `many`: another one of very many with each use. `belowDeep`: a new one below the deepest node.
 */
export const PATH_KINDS = [
  "root",
  "wide",
  "many",
  "absent",
  "long",
  "deep",
  "belowDeep",
  "big",
  "listed",
  "quota",
  "ephemeral",
  "scratch",
] as const;
export type PathKind = (typeof PATH_KINDS)[number];

/**
 * Maximum number of ephemerals of a session that is closed: to create them takes longer than to
 * measure their end.
 */
export const EPHEMERALS_MAX = 1000;

export const ACL_KINDS = ["open", "auth", "ip", "digest"] as const;

export interface AclShape {
  readonly of: (typeof ACL_KINDS)[number];
  readonly size: number;
}

/** Requests of one path, by the name of their operation. */
export const ON_PATH = [
  "getData",
  "exists",
  "getChildren",
  "getChildren2",
  "getAcl",
  "sync",
  "delete",
  "getEphemerals",
  "countChildren",
  "addWatch",
  "removeWatches",
  "checkWatches",
] as const;
export const CREATES = ["create", "create2", "createContainer", "createTtl"] as const;

export type Shape =
  | { readonly op: (typeof ON_PATH)[number]; readonly path: PathShape; readonly watch: boolean }
  | {
      readonly op: (typeof CREATES)[number];
      readonly path: PathShape;
      readonly data: number;
      readonly acl: AclShape;
      readonly flags: number;
    }
  | { readonly op: "setData"; readonly path: PathShape; readonly data: number }
  | { readonly op: "setAcl"; readonly path: PathShape; readonly acl: AclShape }
  | { readonly op: "multi" | "multiRead"; readonly parts: readonly Shape[]; readonly count: number }
  | { readonly op: "setWatches"; readonly path: PathShape; readonly counts: readonly number[]; readonly isOld: boolean }
  | { readonly op: "auth"; readonly scheme: string; readonly size: number }
  /** Closes a session that has `size` ephemerals at such paths, at most {@link EPHEMERALS_MAX}. */
  | { readonly op: "closeSession"; readonly path: PathShape; readonly size: number }
  | { readonly op: "reconfig" | "whoAmI" | "sasl"; readonly size: number };

const SIZES = [0, 1, 10, 100, 1000, 10_000, 100_000, 450_000, 900_000];
const COUNTS = [1, 10, 100, 1000, 3000, 5000, 20_000];

export function randomShape(random: Random, depth = 0): Shape {
  const kind = random.between(0, depth === 0 ? 10 : 4);
  const path = randomPath(random);
  switch (kind) {
    case 0:
    case 1:
      return { op: random.pick(ON_PATH), path, watch: random.chance(0.5) };
    case 2:
      return {
        op: random.pick(CREATES),
        path,
        data: random.pick(SIZES),
        acl: randomAcl(random),
        flags: random.between(0, 6),
      };
    case 3:
      return { op: "setData", path, data: random.pick(SIZES) };
    case 4:
      return { op: "setAcl", path, acl: randomAcl(random) };
    case 5:
    case 6:
      return {
        op: kind === 5 ? "multi" : "multiRead",
        parts: Array.from({ length: random.between(1, 3) }, () => randomShape(random, depth + 1)),
        count: random.pick(COUNTS),
      };
    case 7:
      return {
        op: "setWatches",
        path,
        counts: Array.from({ length: 5 }, () => (random.chance(0.5) ? random.pick(COUNTS) : 0)),
        isOld: random.chance(0.5),
      };
    case 8:
      return {
        op: "auth",
        scheme: random.pick(["digest", "ip", "world", "sasl", "x509", "other"]),
        size: random.pick(SIZES),
      };
    case 9:
      return {
        op: "closeSession",
        path: { of: random.pick(["scratch", "long", "belowDeep"]), size: path.size },
        size: random.pick(COUNTS),
      };
    default:
      return { op: random.pick(["reconfig", "whoAmI", "sasl"]), size: random.pick(COUNTS) };
  }
}

function randomPath(random: Random): PathShape {
  return { of: random.pick(PATH_KINDS), size: random.pick(SIZES) };
}

function randomAcl(random: Random): AclShape {
  return { of: random.pick(ACL_KINDS), size: random.pick([1, 10, 100, 1000, 10_000, 40_000]) };
}

/** A shape with one thing about it changed. */
export function changedShape(shape: Shape, random: Random): Shape {
  if (random.chance(0.1)) return randomShape(random);
  if ("parts" in shape) {
    if (random.chance(0.5)) return { ...shape, count: changedSize(shape.count, random) };
    const at = random.between(0, shape.parts.length - 1);
    return { ...shape, parts: shape.parts.map((part, i) => (i === at ? changedShape(part, random) : part)) };
  }
  const choices: (() => Shape)[] = [];
  if ("path" in shape) {
    const { path } = shape;
    choices.push(
      () => ({ ...shape, path: { ...path, of: random.pick(PATH_KINDS) } }),
      () => ({ ...shape, path: { ...path, size: changedSize(path.size, random) } }),
    );
  }
  if ("acl" in shape) {
    const { acl } = shape;
    choices.push(
      () => ({ ...shape, acl: { ...acl, of: random.pick(ACL_KINDS) } }),
      () => ({ ...shape, acl: { ...acl, size: changedSize(acl.size, random) } }),
    );
  }
  if ("data" in shape) choices.push(() => ({ ...shape, data: changedSize(shape.data, random) }));
  if ("counts" in shape) {
    choices.push(() => ({
      ...shape,
      counts: shape.counts.map((count) => (random.chance(0.3) ? changedSize(count, random) : count)),
    }));
  }
  if ("size" in shape) choices.push(() => ({ ...shape, size: changedSize(shape.size, random) }));
  return random.pick(choices)();
}

function changedSize(size: number, random: Random): number {
  if (random.chance(0.2)) return random.pick(SIZES);
  return Math.min(1_000_000, Math.max(0, Math.round(size * random.pick([0.25, 0.5, 0.9, 1.1, 2, 4]))));
}

/** The same as short text, for tables. */
export function shapeText(shape: Shape): string {
  const pathText = ({ of, size }: PathShape): string =>
    ["absent", "long", "deep"].includes(of) ? `${of} path (${size})` : of;
  switch (shape.op) {
    case "multi":
    case "multiRead":
      return `${shape.op} of ${shape.count} × (${shape.parts.map(shapeText).join("; ")})`;
    case "setWatches":
      return `setWatches${shape.isOld ? " from zxid 0" : ""} of ${shape.counts.join(" + ")}, ${pathText(shape.path)}`;
    case "auth":
      return `auth ${shape.scheme}, ${shape.size} bytes`;
    case "closeSession":
      return `closeSession with ${Math.min(shape.size, EPHEMERALS_MAX)} ephemerals, ${pathText(shape.path)}`;
    default: {
      const details: string[] = [];
      if ("path" in shape) details.push(pathText(shape.path));
      if ("data" in shape && shape.data > 0) details.push(`${shape.data} bytes`);
      if ("acl" in shape && shape.acl.of !== "open") details.push(`${shape.acl.size} ${shape.acl.of} entries`);
      if ("watch" in shape && shape.watch) details.push("watched");
      if ("flags" in shape) details.push(`flags ${shape.flags}`);
      return [shape.op, ...details].join(" ");
    }
  }
}
