import { Random } from "../random.ts";
import {
  type Acl,
  ALL,
  create,
  digest,
  multi,
  OP,
  OPEN_ACL,
  onNoPath,
  onPath,
  read,
  setAcl,
  setData,
  versioned,
  watchOn,
} from "../wire.ts";
import { type Arms, placed, type Script, type ScriptRequest, SESSIONS, type Step } from "./script.ts";

const CREDENTIALS: readonly (readonly [scheme: string, credentials: string])[] = [
  ["digest", "alice:secret"],
  ["digest", "alice:secret"],
  ["digest", "bob:other"],
  ["digest", "alice:wrong"],
  ["digest", "super:admin"],
  ["ip", ""],
  ["world", "anyone"],
  ["absent", "x"],
];
const ACLS: readonly (readonly Acl[])[] = [
  OPEN_ACL,
  OPEN_ACL,
  OPEN_ACL,
  OPEN_ACL,
  [[1, "world", "anyone"]],
  [[15, "world", "anyone"]],
  [[23, "world", "anyone"]],
  [[0, "world", "anyone"]],
  [
    [ALL, "digest", digest("alice:secret")],
    [1, "world", "anyone"],
  ],
  [
    [1, "world", "anyone"],
    [16, "digest", digest("bob:other")],
  ],
  [[ALL, "digest", digest("bob:other")]],
  [[ALL, "auth", ""]],
  [[ALL, "auth", "ignored"]],
  [[ALL, "ip", "127.0.0.1"]],
  [[3, "ip", "10.0.0.0/8"]],
  [[ALL, "ip", "127.0.0.1/99"]],
  [[ALL, "digest", "alice"]],
  [[ALL, "world", "someone"]],
  [[ALL, "absent", "x"]],
  [[ALL, "sasl", "alice"]],
  [],
];
/** Read only: changes by one script would be visible to the next. */
const SHARED_PATHS = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];
const ODD_PATHS = [
  "",
  "x",
  "~/a/",
  "//",
  "~/a//b",
  "~/nope/nope",
  "~/a/./b",
  "~/..",
  "~/\u0000",
  "~/ü",
  "~/zookeeper_limits",
];
const QUOTA_TEXTS = [
  "count=4,bytes=-1",
  "count=-1,bytes=40",
  "count=3,bytes=30=;byteHardLimit=60;countHardLimit=4",
  "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=3",
  "count=-1,bytes=-1=;byteHardLimit=50;countHardLimit=-1",
];
const TTL_MAX = 1_099_511_627_775n;
/** No reply fills a socket's buffer while it is not read. */
const AT_ONCE_MAX = 6;

/** A conversation of about this many requests, the same for the same seed. */
export function randomScript(seed: number, requestCount: number): Script {
  const random = new RandomScript(seed);
  const steps: Step[] = [];
  for (let count = 0; count < requestCount; ) {
    const step = random.step();
    steps.push(step);
    count += step.kind === "requests" ? step.requests.length : 1;
  }
  return { seed, steps };
}

/** The state for related choices. */
class RandomScript {
  readonly #random: Random;
  #valueCount = 0;
  /** From then on one request at a time: Apache compares with the transactions applied so far. */
  #hasQuota = false;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  step(): Step {
    const random = this.#random;
    const session = random.pick(SESSIONS);
    const choice = random.next();
    if (choice < 0.01) return { kind: "leave", session };
    if (choice < 0.02) return { kind: "come-back", session, arms: random.chance(0.7) ? this.#arms() : undefined };
    if (choice < 0.05) {
      const [scheme, credentials] = random.pick(CREDENTIALS);
      return { kind: "auth", session, scheme, credentials };
    }
    if (choice < 0.051) return { kind: "expiry", path: this.#path() };
    if (choice < 0.054) return { kind: "requests", session, requests: this.#quota() };
    // Alone: Apache answers an unknown operation out of turn, and ends the connection.
    if (choice < 0.056) return { kind: "requests", session, requests: [this.#unknown()] };
    const requests: ScriptRequest[] = [];
    const count = this.#hasQuota || random.chance(0.7) ? 1 : random.between(2, AT_ONCE_MAX);
    while (requests.length < count) {
      const request = this.#request();
      requests.push(request);
      // Apache checks closely following requests against the old list or the new one, depending on
      // timing; ours against the new one.
      if (request.opcode === OP.setAcl) break;
    }
    return { kind: "requests", session, requests };
  }

  #arms(): Arms {
    const random = this.#random;
    const lists = [[this.#path(), this.#path()], [this.#path()], [this.#path(), this.#path()]];
    const isSecondForm = random.chance(0.5);
    if (isSecondForm) lists.push([this.#path()], [this.#path(), this.#path()]);
    return { opcode: isSecondForm ? OP.setWatches2 : OP.setWatches, lists, ago: random.between(0, 30) };
  }

  #request(): ScriptRequest {
    const choice = this.#random.next();
    if (choice < 0.5) return this.#write();
    if (choice < 0.6) return this.#transaction();
    if (choice < 0.78) return this.#look();
    if (choice < 0.92) return this.#watch();
    if (choice < 0.995) return this.#ask();
    return this.#cutOff();
  }

  #write(): ScriptRequest {
    const random = this.#random;
    const where = this.#path();
    const choice = random.next();
    if (choice < 0.45) return this.#create(where);
    const version = random.pick([-1, -1, -1, 0, 1, 2]);
    if (choice < 0.65) {
      const data = this.#value();
      return request(`set ${where} ${version} ${data.length} bytes`, OP.setData, (root) =>
        setData(placed(where, root), data, version),
      );
    }
    if (choice < 0.9) {
      return request(`delete ${where} ${version}`, OP.delete, (root) => versioned(placed(where, root), version));
    }
    const acl = random.pick(ACLS);
    return request(`set acl ${where} ${version} ${JSON.stringify(acl)}`, OP.setAcl, (root) =>
      setAcl(placed(where, root), acl, version),
    );
  }

  #create(where: string): ScriptRequest {
    const random = this.#random;
    const acl = random.pick(ACLS);
    const data = random.chance(0.2) ? null : this.#value();
    const choice = random.next();
    if (choice < 0.1) {
      // With the flags of an ephemeral node Apache treats it as one until it is applied, and not
      // afterwards.
      const flags = random.pick([4, 4, 4, 0, 2, 5]);
      return request(`create container ${where} ${flags} ${JSON.stringify(acl)}`, OP.createContainer, (root) =>
        create(placed(where, root), { data, flags, acl }),
      );
    }
    if (choice < 0.2) {
      const flags = random.pick([5, 5, 6, 6, 0, 1, 4]);
      // A mode without a TTL with a TTL below 0 stops Apache's server when it applies the node;
      // ours refuses it.
      const ttl = random.pick(flags > 4 ? [TTL_MAX, TTL_MAX - 1n, TTL_MAX + 1n, 900_000n, 0n, -1n] : [TTL_MAX, 0n]);
      return request(`create ttl ${where} ${flags} ${ttl} ${JSON.stringify(acl)}`, OP.createTtl, (root) =>
        create(placed(where, root), { data, flags, acl, ttl }),
      );
    }
    const flags = random.pick([0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 7, -1]);
    const opcode = random.chance(0.5) ? OP.create : OP.create2;
    return request(`create ${where} ${flags} ${JSON.stringify(acl)}`, opcode, (root) =>
      create(placed(where, root), { data, flags, acl }),
    );
  }

  #transaction(): ScriptRequest {
    const parts = Array.from({ length: this.#random.between(0, 5) }, () => this.#part());
    return request(`multi ${parts.map(({ label }) => label).join("; ")}`, OP.multi, (root) =>
      multi(...parts.map(({ opcode, body }) => [opcode, body(root)] as const)),
    );
  }

  /** A part of a transaction: a write, or a check; sometimes an invalid one. */
  #part(): ScriptRequest {
    const random = this.#random;
    if (random.chance(0.2)) {
      const [where, version] = [this.#path(), random.pick([-1, 0, 1])];
      return request(`check ${where} ${version}`, OP.check, (root) => versioned(placed(where, root), version));
    }
    const part = this.#write();
    return part.opcode === OP.setAcl && random.chance(0.9) ? this.#part() : part;
  }

  #look(): ScriptRequest {
    const random = this.#random;
    const where = random.chance(0.1) ? random.pick(SHARED_PATHS) : this.#path();
    const isWatched = random.chance(0.5);
    const opcode = random.pick([
      OP.exists,
      OP.getData,
      OP.getChildren,
      OP.getChildren2,
      OP.getAcl,
      OP.sync,
      OP.multiRead,
    ]);
    const label = `read ${opcode} ${where}${isWatched ? " watched" : ""}`;
    if (opcode === OP.getAcl || opcode === OP.sync)
      return request(label, opcode, (root) => onPath(placed(where, root)));
    if (opcode !== OP.multiRead) return request(label, opcode, (root) => read(placed(where, root), isWatched));
    const other = this.#path();
    return request(`${label} and ${other}`, opcode, (root) =>
      multi([OP.getData, read(placed(where, root))], [OP.getChildren, read(placed(other, root))]),
    );
  }

  /** Persistent watches, and checks and removals of watches of every mode. */
  #watch(): ScriptRequest {
    const random = this.#random;
    const where = random.chance(0.02) ? undefined : this.#path();
    const on = (mode: number) => (root: string) =>
      where === undefined ? onNoPath(mode) : watchOn(placed(where, root), mode);
    if (random.chance(0.5)) {
      const mode = random.pick([0, 0, 0, 0, 1, 1, 1, 1, 2]);
      return request(`add watch ${mode} ${where}`, OP.addWatch, on(mode));
    }
    const type = random.pick([1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0, 6]);
    if (random.chance(0.5)) return request(`check watches ${type} ${where}`, OP.checkWatches, on(type));
    return request(`remove watches ${type} ${where}`, OP.removeWatches, on(type));
  }

  #ask(): ScriptRequest {
    const random = this.#random;
    const where = this.#path();
    const opcode = random.pick([OP.getEphemerals, OP.getAllChildrenNumber, OP.whoAmI]);
    if (opcode === OP.whoAmI) return request("who am I", opcode, () => Buffer.alloc(0));
    if (opcode === OP.getAllChildrenNumber) {
      return request(`nodes below ${where}`, opcode, (root) => onPath(placed(where, root)));
    }
    const prefix = random.pick(["/", where, where.slice(0, -1), " "]);
    return request(`ephemerals of ${JSON.stringify(prefix)}`, opcode, (root) => onPath(placed(prefix, root)));
  }

  #unknown(): ScriptRequest {
    const opcode = this.#random.pick([OP.check, 10, 23, 999]);
    return request(`operation ${opcode}`, opcode, this.#look().body);
  }

  /** A truncated body. */
  #cutOff(): ScriptRequest {
    const kept = this.#random.between(0, 12);
    const { label, opcode, body } = this.#request();
    return request(`the first ${kept} bytes of ${label}`, opcode, (root) => body(root).subarray(0, kept));
  }

  /** A quota on one of the script's nodes: created, changed, read or deleted. */
  #quota(): readonly ScriptRequest[] {
    const random = this.#random;
    this.#hasQuota = true;
    const node = random.pick(["~", "~/a", "~/b", "~/a/b"]);
    const above = node.split("/").map((_, i, names) => `/zookeeper/quota${names.slice(0, i + 1).join("/")}`);
    const own = `/zookeeper/quota${node}`;
    const limits = random.pick(QUOTA_TEXTS);
    const plain = (path: string, data: string): ScriptRequest =>
      request(`create ${path} ${data}`, OP.create, (root) => create(placed(path, root), { data }));
    const look = (path: string): ScriptRequest =>
      request(`look at ${path}`, OP.getData, (root) => read(placed(path, root)));
    const change = (path: string, data: string): ScriptRequest =>
      request(`set ${path} ${data}`, OP.setData, (root) => setData(placed(path, root), data));
    const remove = (path: string): ScriptRequest =>
      request(`delete ${path}`, OP.delete, (root) => versioned(placed(path, root), -1));
    const [limit, stat] = [`${own}/zookeeper_limits`, `${own}/zookeeper_stats`];
    const choice = random.next();
    if (choice < 0.5)
      return [...above.map((path) => plain(path, "")), plain(limit, limits), plain(stat, "count=0,bytes=0")];
    if (choice < 0.8) return [look(limit), look(stat)];
    return choice < 0.9 ? [change(limit, limits)] : [remove(limit), remove(stat)];
  }

  /** Mostly a few nested names, so that requests conflict. */
  #path(): string {
    const random = this.#random;
    if (random.chance(0.05)) return random.pick(ODD_PATHS);
    const depth = random.pick([1, 1, 1, 2, 2, 3]);
    return `~${Array.from({ length: depth }, () => `/${random.pick(["a", "b", "s-0000000001"])}`).join("")}`;
  }

  #value(): string {
    const filler = "-".repeat(this.#random.chance(0.1) ? this.#random.between(0, 3000) : this.#random.between(0, 12));
    return `v${this.#valueCount++}${filler}`;
  }
}

function request(label: string, opcode: number, body: (root: string) => Buffer): ScriptRequest {
  return { label, opcode, body };
}
