import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth, multiBody, request } from "@zooid/wire/testing/raw-client";
import { type AclEntry, ANYONE, range, writeAcl } from "../attacks/attack.ts";
import type { AclShape, PathShape, Shape } from "./shape.ts";

type Body = (writer: JuteWriter) => void;

/** Where the set-up has put things, and how many there are. */
export interface World {
  readonly manyCount: number;
  readonly wideCount: number;
  readonly ephemeralCount: number;
  readonly deepPath: string;
}

/** Where ephemerals stand: siblings do not follow one another, and names are in no order. */
export const EPHEMERAL_PARENT_COUNT = 10;
export function ephemeralPath(i: number): string {
  return `/ephemerals-${i % EPHEMERAL_PARENT_COUNT}/${(Math.imul(i, 0x9e3779b1) >>> 0).toString(36)}`;
}

const OPS = {
  getData: OpCode.GET_DATA,
  exists: OpCode.EXISTS,
  getChildren: OpCode.GET_CHILDREN,
  getChildren2: OpCode.GET_CHILDREN2,
  getAcl: OpCode.GET_ACL,
  sync: OpCode.SYNC,
  delete: OpCode.DELETE,
  getEphemerals: OpCode.GET_EPHEMERALS,
  countChildren: OpCode.GET_ALL_CHILDREN_NUMBER,
  addWatch: OpCode.ADD_WATCH,
  removeWatches: OpCode.REMOVE_WATCHES,
  checkWatches: OpCode.CHECK_WATCHES,
  create: OpCode.CREATE,
  create2: OpCode.CREATE2,
  createContainer: OpCode.CREATE_CONTAINER,
  createTtl: OpCode.CREATE_TTL,
  setData: OpCode.SET_DATA,
  setAcl: OpCode.SET_ACL,
  multi: OpCode.MULTI,
  multiRead: OpCode.MULTI_READ,
  setWatches: OpCode.SET_WATCHES2,
  auth: OpCode.AUTH,
  reconfig: OpCode.RECONFIG,
  whoAmI: OpCode.WHO_AM_I,
  sasl: OpCode.SASL,
  closeSession: OpCode.CLOSE_SESSION,
} as const satisfies Record<Shape["op"], number>;

/** Makes the bytes of shapes, each use of `many`, `absent` and `scratch` with another path. */
export class FrameMaker {
  readonly #world: World;
  readonly #bytesMax: number;
  #uses = 0;
  #bytes = 0;

  /** @param bytesMax of a frame; a shape that would be longer is cut short */
  constructor(world: World, bytesMax: number) {
    this.#world = world;
    this.#bytesMax = bytesMax;
  }

  frame(xid: number, shape: Shape): Buffer {
    this.#bytes = 100;
    return request(xid, OPS[shape.op], this.#body(shape));
  }

  #body(shape: Shape): Body {
    switch (shape.op) {
      case "multi":
      case "multiRead": {
        const parts: (readonly [number, Body])[] = [];
        for (let i = 0; i < shape.count && this.#bytes < this.#bytesMax; i++) {
          const part = shape.parts[i % shape.parts.length] as Shape;
          this.#bytes += 30;
          parts.push([OPS[part.op], this.#body(part)]);
        }
        return multiBody(...parts);
      }
      case "setWatches": {
        const lists = shape.counts.map((count) => {
          const paths: string[] = [];
          for (let i = 0; i < count && this.#bytes < this.#bytesMax; i++) paths.push(this.#path(shape.path));
          return paths;
        });
        return (writer) => {
          writer.zxid(shape.isOld ? 0 : Number.MAX_SAFE_INTEGER);
          for (const paths of lists) {
            writer.int(paths.length);
            for (const path of paths) writer.text(path);
          }
        };
      }
      case "auth": {
        const id = `u${++this.#uses}:${this.#filled(shape.size)}`;
        return auth(shape.scheme, id);
      }
      case "reconfig": {
        const members = this.#filled(shape.size);
        return (writer) => {
          for (const text of [members, "", ""]) writer.text(text);
          writer.long(-1, -1);
        };
      }
      case "sasl": {
        const token = this.#filled(shape.size);
        return (writer) => writer.text(token);
      }
      case "whoAmI":
      case "closeSession":
        return () => {};
      default:
        return this.#onPath(shape);
    }
  }

  #onPath(shape: Extract<Shape, { readonly path: PathShape }>): Body {
    // What the set-up made stays as it is, or later requests would cost less.
    const isChange = shape.op === "setAcl" || shape.op === "delete" || shape.op === "setData";
    const isOne = ["root", "wide", "big", "listed"].includes(shape.path.of);
    const path = this.#path(isChange && isOne ? { ...shape.path, of: "many" } : shape.path);
    const acl = "acl" in shape ? this.#acl(shape.acl) : [];
    const data = "data" in shape ? this.#filled(shape.data) : "";
    return (writer) => {
      writer.text(path);
      switch (shape.op) {
        case "create":
        case "create2":
        case "createContainer":
        case "createTtl":
          writer.text(data);
          writeAcl(writer, acl);
          writer.int(shape.flags);
          if (shape.op === "createTtl") writer.long(0, 10_000);
          return;
        case "setData":
          writer.text(data);
          writer.int(-1);
          return;
        case "setAcl":
          writeAcl(writer, acl);
          writer.int(-1);
          return;
        case "delete":
          writer.int(-1);
          return;
        case "getData":
        case "exists":
        case "getChildren":
        case "getChildren2":
          writer.bool(shape.watch);
          return;
        case "addWatch":
          writer.int(shape.watch ? 1 : 0);
          return;
        case "removeWatches":
        case "checkWatches":
          writer.int(shape.watch ? 3 : 1);
          return;
        default:
      }
    };
  }

  #path({ of, size }: PathShape): string {
    const use = ++this.#uses;
    const { manyCount, wideCount, ephemeralCount, deepPath } = this.#world;
    const path = ((): string => {
      switch (of) {
        case "root":
          return "/";
        case "wide":
          return "/wide";
        case "many":
          return use % 2 === 0
            ? `/wide/c${use % wideCount}`
            : `/many/${use % 1000}/n${Math.floor(use / 1000) % Math.ceil(manyCount / 1000)}`;
        case "absent":
          return `/absent-${use}${"a".repeat(size)}`;
        case "long":
          return `/scratch/${use}${"l".repeat(size)}`;
        case "deep":
          return size % 2 === 0 ? deepPath : `/d${use}${"/d".repeat(size)}`;
        case "belowDeep":
          return `${deepPath}/s${use}`;
        case "big":
          return "/big";
        case "listed":
          return "/listed";
        case "quota":
          return [
            "/zookeeper/quota/many/zookeeper_stats",
            "/zookeeper/quota/many/zookeeper_limits",
            "/zookeeper/quota/wide",
          ][use % 3] as string;
        case "ephemeral":
          return ephemeralPath(use % ephemeralCount);
        case "scratch":
          return `/scratch/s${use}`;
      }
    })();
    const kept = path.slice(0, Math.max(1, this.#bytesMax - this.#bytes));
    this.#bytes += kept.length + 4;
    return kept.length > 1 && kept.endsWith("/") ? kept.slice(0, -1) : kept;
  }

  #acl({ of, size }: AclShape): readonly AclEntry[] {
    if (of === "open") return ANYONE;
    const count = Math.min(size, Math.floor(Math.max(0, this.#bytesMax - this.#bytes) / 40));
    this.#bytes += count * 40;
    return range(count, (i) => {
      const id = of === "auth" ? "" : of === "ip" ? `10.${(i >> 8) & 255}.${i & 255}.0/24` : `u${i}:AAAAAAAAAAAAAAAA`;
      return { permissions: 31, scheme: of, id };
    });
  }

  #filled(size: number): string {
    const kept = Math.max(0, Math.min(size, this.#bytesMax - this.#bytes));
    this.#bytes += kept;
    return "f".repeat(kept);
  }
}
