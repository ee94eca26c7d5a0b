import { collidingNames } from "@zooid/data-tree/testing/collisions";
import { AddWatchMode, CreateMode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import type { Limits } from "../cluster/limits.ts";
import type { Prng } from "../cluster/prng.ts";
import { PROXY_ADDRESS } from "../cluster/trusted-proxy.ts";
import type { HostileRequest } from "./requests.ts";

/** The parent of everything that hostile tenants create. */
export const TENANT_PATH = "/t";
/** The address of hostile tenants, unless there is a crowd of them. */
const TENANT_ADDRESS = "10.6.6.6";
/** More of them are a crowd. */
const TENANTS_OF_ONE_ADDRESS = 2;
/**
 * The address of one of a number of hostile tenants. A crowd has three shares of everything: those
 * of an address, of a /64 whose hosts choose the rest as they like, and of all that come by a
 * trusted proxy.
 */
export function tenantAddress(index: number, count: number): string {
  if (count <= TENANTS_OF_ONE_ADDRESS) return TENANT_ADDRESS;
  return [TENANT_ADDRESS, `2001:db8:6:6:0:0:${index}:1`, PROXY_ADDRESS][index % CROWD_SHARE_COUNT] ?? TENANT_ADDRESS;
}

const CROWD_SHARE_COUNT = 3;

/** The number of shares that `count` hostile tenants have together. */
export function tenantShareCount(count: number): number {
  return count <= TENANTS_OF_ONE_ADDRESS ? 1 : CROWD_SHARE_COUNT;
}

const AUTH_XID = -4;
const BIG_BYTES_MAX = 20_000;

/** Names with the same unkeyed hash; some are of ordinary length. */
const NAMES = collidingNames(128);

type Body = (writer: JuteWriter) => void;

/**
 * Chooses the requests of a hostile tenant: large ones, costly ones, ones that collide in hash
 * tables, many at once. Every ACL allows everyone to read, so that ordinary clients receive the
 * events of what they watch.
 */
export class Tenant {
  readonly #random: Prng;
  readonly #limits: Limits;
  #serial = 0;

  constructor(random: Prng, limits: Limits) {
    this.#random = random;
    this.#limits = limits;
  }

  /** Requests that are sent at once. */
  next(): readonly HostileRequest[] {
    const attack = this.#random.pick([
      this.#bigData,
      this.#bigData,
      this.#bigData,
      this.#bigData,
      this.#bigReads,
      this.#bigReads,
      this.#watches,
      this.#setWatches,
      this.#ephemerals,
      this.#bigMulti,
      this.#longAcls,
      this.#identities,
      this.#multiReads,
      this.#listings,
      this.#deepPath,
      this.#deletes,
      this.#unreadable,
    ]);
    return attack.call(this);
  }

  #bigData(): readonly HostileRequest[] {
    return [mkdir(TENANT_PATH), ...this.#times(2, () => this.#bigCreate()), this.#bigSet()];
  }

  /** A write, and reads of large data that wait for it. */
  #bigReads(): readonly HostileRequest[] {
    const read = request("a big read", OpCode.GET_DATA, (writer) => {
      writer.text(this.#bigPath());
      writer.bool(true);
    });
    return [this.#bigSet(), ...this.#times(40, () => read)];
  }

  #watches(): readonly HostileRequest[] {
    return this.#times(80, () => {
      const path = `${TENANT_PATH}/w/${this.#name()}`;
      if (this.#random.chance(0.5)) return pathAndFlag("exists with a watch", OpCode.EXISTS, path, true);
      return request("a persistent watch", OpCode.ADD_WATCH, (writer) => {
        writer.text(path);
        writer.int(AddWatchMode.PERSISTENT_RECURSIVE);
      });
    });
  }

  #setWatches(): readonly HostileRequest[] {
    const paths = this.#times(120, () => `${TENANT_PATH}/w/${this.#name()}`);
    const setWatches = request("setWatches", OpCode.SET_WATCHES, (writer) => {
      writer.zxid(0);
      for (let list = 0; list < 3; list++) {
        writer.int(paths.length);
        for (const path of paths) writer.text(path);
      }
    });
    return [setWatches, ...this.#times(3, () => this.#listing())];
  }

  #ephemerals(): readonly HostileRequest[] {
    const create = (): HostileRequest => {
      const path = `${TENANT_PATH}/e/${this.#name()}`;
      return request("an ephemeral", OpCode.CREATE2, createBody(path, "", CreateMode.EPHEMERAL));
    };
    return [mkdir(TENANT_PATH), mkdir(`${TENANT_PATH}/e`), ...this.#times(40, create)];
  }

  #bigMulti(): readonly HostileRequest[] {
    const size = this.#random.pick([1, 1, 2]) * Math.min(60, this.#limits.multiOpCountMax);
    const mode = this.#random.chance(0.5) ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.PERSISTENT_SEQUENTIAL;
    const data = "m".repeat(this.#random.pick([0, 10, 200]));
    const parts = this.#times(size, () => createBody(`${TENANT_PATH}/c/${this.#name()}`, data, mode));
    return [mkdir(TENANT_PATH), mkdir(`${TENANT_PATH}/c`), multi("a big multi", OpCode.CREATE, parts)];
  }

  /** Some are longer than allowed; some name all identities of the connection. */
  #longAcls(): readonly HostileRequest[] {
    const entries = this.#random.pick([1, 100, 1200]);
    const path = `${TENANT_PATH}/acl-${this.#random.below(20)}`;
    const create = request("a long ACL", OpCode.CREATE, (writer) => {
      writer.text(path);
      writer.text("");
      this.#acl(writer, entries);
      writer.int(CreateMode.PERSISTENT);
    });
    const set = request("a long ACL that is set", OpCode.SET_ACL, (writer) => {
      writer.text(path);
      this.#acl(writer, entries);
      writer.int(-1);
    });
    const get = pathAndFlag("getACL", OpCode.GET_ACL, path);
    return [mkdir(TENANT_PATH), create, set, ...this.#times(10, () => get)];
  }

  #acl(writer: JuteWriter, entries: number): void {
    const isAuth = this.#random.chance(0.3);
    writer.int(entries + 1);
    for (let i = 0; i < entries; i++) {
      writer.int(1 + (i % 31));
      writer.text(isAuth ? "auth" : "ip");
      writer.text(isAuth ? "" : `10.0.${(i >> 8) & 0xff}.${i & 0xff}`);
    }
    writer.int(31);
    writer.text("world");
    writer.text("anyone");
  }

  #identities(): readonly HostileRequest[] {
    return this.#times(10, () => {
      const credentials = `user-${++this.#serial}:${"p".repeat(this.#random.below(40))}`;
      const body: Body = (writer) => {
        writer.int(0);
        writer.text("digest");
        writer.text(credentials);
      };
      return { ...request("an identity", OpCode.AUTH, body), xid: AUTH_XID };
    });
  }

  #multiReads(): readonly HostileRequest[] {
    const parts = this.#times(60, (): Body => {
      const path = this.#random.chance(0.5) ? `${TENANT_PATH}/c` : this.#bigPath();
      return (writer) => {
        writer.text(path);
        writer.bool(false);
      };
    });
    const op = this.#random.chance(0.5) ? OpCode.GET_CHILDREN : OpCode.GET_DATA;
    const read = multi("a multiRead", op, parts, OpCode.MULTI_READ);
    return [this.#bigSet(), ...this.#times(4, () => read)];
  }

  #listings(): readonly HostileRequest[] {
    return [this.#bigSet(), ...this.#times(40, () => this.#listing())];
  }

  #listing(): HostileRequest {
    if (this.#random.chance(0.5)) return pathAndFlag("getEphemerals", OpCode.GET_EPHEMERALS, "/nomatch");
    return pathAndFlag("getChildren", OpCode.GET_CHILDREN2, `${TENANT_PATH}/c`, true);
  }

  #deepPath(): readonly HostileRequest[] {
    const path = `${TENANT_PATH}${"/d".repeat(2000)}`;
    const parts = this.#times(10, () => createBody(path, "", CreateMode.PERSISTENT));
    return [request("a deep path", OpCode.CREATE, createBody(path, "", 0)), multi("deep paths", OpCode.CREATE, parts)];
  }

  #deletes(): readonly HostileRequest[] {
    return this.#times(30, () => {
      const names = this.#random.chance(0.8) ? `${TENANT_PATH}/e/${this.#name()}` : this.#bigPath();
      return request("a delete", OpCode.DELETE, (writer) => {
        writer.text(names);
        writer.int(-1);
      });
    });
  }

  #unreadable(): readonly HostileRequest[] {
    const op = this.#random.pick([OpCode.CREATE, OpCode.MULTI, OpCode.GET_DATA, OpCode.SET_WATCHES, 4711]);
    const bytes = this.#random.bytes(this.#random.below(40));
    return [request("bytes without meaning", op, (writer) => writer.raw(bytes, 0, bytes.length))];
  }

  #bigCreate(): HostileRequest {
    return request("big data", OpCode.CREATE, createBody(this.#bigPath(), this.#bigText(), CreateMode.PERSISTENT));
  }

  #bigSet(): HostileRequest {
    const path = this.#bigPath();
    const text = this.#bigText();
    return request("big data that are set", OpCode.SET_DATA, (writer) => {
      writer.text(path);
      writer.text(text);
      writer.int(-1);
    });
  }

  #bigPath(): string {
    return `${TENANT_PATH}/big-${this.#random.below(60)}`;
  }

  #bigText(): string {
    return "b".repeat(BIG_BYTES_MAX - this.#random.below(200));
  }

  #name(): string {
    return this.#random.pick(NAMES);
  }

  #times<T>(count: number, make: () => T): readonly T[] {
    return Array.from({ length: count }, make);
  }
}

function request(what: string, op: number, body: Body): HostileRequest {
  return { kind: "hostile", what, op, body };
}

function mkdir(path: string): HostileRequest {
  return request("a directory", OpCode.CREATE, createBody(path, "", CreateMode.PERSISTENT));
}

function pathAndFlag(what: string, op: number, path: string, flag?: boolean): HostileRequest {
  return request(what, op, (writer) => {
    writer.text(path);
    if (flag !== undefined) writer.bool(flag);
  });
}

function multi(what: string, op: number, parts: readonly Body[], multiOp: number = OpCode.MULTI): HostileRequest {
  return request(what, multiOp, (writer) => {
    for (const part of parts) {
      writer.int(op);
      writer.bool(false);
      writer.int(-1);
      part(writer);
    }
    writer.int(-1);
    writer.bool(true);
    writer.int(-1);
  });
}

function createBody(path: string, data: string, mode: number): Body {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    writer.int(1);
    writer.int(31);
    writer.text("world");
    writer.text("anyone");
    writer.int(mode);
  };
}
