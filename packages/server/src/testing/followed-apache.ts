import { leader, packet, snapshot } from "@zooid/apache-peer/testing/leader-packets";
import { ScriptedLeader, type ScriptedLink } from "@zooid/apache-peer/testing/scripted-leader";
import type { Acl } from "@zooid/model";
import { ApacheTree } from "@zooid/txn-log/sqlite";
import { apacheTransaction } from "@zooid/wire/apache";
import { ApacheType, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";

const INFORM = 8;

export interface FollowedOptions {
  readonly epoch?: number;
  /** Whether transactions have digests, as from 3.6 on. Default true. */
  readonly hasDigests?: boolean;
  /** Added to all times, so that two ensembles differ. */
  readonly atMs?: number;
}

/** The leader of an Apache ensemble, with a tree of its own, for tests: they say what it sends. */
export class FollowedApache implements AsyncDisposable {
  readonly tree: ApacheTree = new ApacheTree();
  readonly leader: ScriptedLeader;
  epoch: number;
  counter = 0;
  /** The committed transactions, by zxid. */
  readonly log: { readonly zxid: bigint; readonly bytes: Buffer }[] = [];
  readonly #options: FollowedOptions;

  private constructor(scripted: ScriptedLeader, options: FollowedOptions) {
    this.leader = scripted;
    this.#options = options;
    this.epoch = options.epoch ?? 5;
    this.tree.addBuiltIn();
  }

  static async start(options: FollowedOptions = {}): Promise<FollowedApache> {
    return new FollowedApache(await ScriptedLeader.start(), options);
  }

  get hosts(): string {
    return this.leader.hosts;
  }

  get zxid(): bigint {
    return (BigInt(this.epoch) << 32n) | BigInt(this.counter);
  }

  /** @returns the packet that tells an observer of it */
  commit(type: number, record: Buffer, { session = 0n, digest }: { session?: bigint; digest?: bigint } = {}): Buffer {
    this.counter++;
    const { zxid } = this;
    const timeMs = (BigInt(this.epoch) << 20n) + BigInt(this.counter + (this.#options.atMs ?? 0));
    const written = { zxid, type, record, session, timeMs };
    if (type !== ApacheType.RECONFIG) this.tree.apply(apacheTransaction(transaction(written)));
    const { hasDigests = true } = this.#options;
    const bytes = transaction({ ...written, ...(hasDigests ? { digest: digest ?? this.tree.digest } : {}) });
    this.log.push({ zxid, bytes });
    return packet(INFORM, zxid, bytes);
  }

  create(path: string, data = "", options: { session?: bigint; acl?: Acl } = {}): Buffer {
    const { session, acl } = options;
    const parent = this.tree.nodes.get(path.slice(0, path.lastIndexOf("/")));
    const record = recordOf.create(path, {
      data,
      isEphemeral: session !== undefined,
      parentCversion: (parent?.stat.readInt32BE(36) ?? 0) + 1,
      ...(acl === undefined ? {} : { acl }),
    });
    return this.commit(ApacheType.CREATE2, record, session === undefined ? {} : { session });
  }

  set(path: string, data: string, digest?: bigint): Buffer {
    const version = (this.tree.nodes.get(path)?.stat.readInt32BE(32) ?? 0) + 1;
    return this.commit(ApacheType.SET_DATA, recordOf.set(path, data, version), digest === undefined ? {} : { digest });
  }

  delete(path: string): Buffer {
    return this.commit(ApacheType.DELETE, recordOf.delete(path));
  }

  /** The tree as it is, in the form of a link. */
  snapshot(): Buffer {
    const lists = [...new Set([...this.tree.nodes.values()].map(({ acl }) => JSON.stringify(acl)))];
    const keys = new Map(lists.map((text, i) => [text, BigInt(i)]));
    return snapshot({
      sessions: [...this.tree.sessions],
      lists: lists.map((text, i) => [BigInt(i), JSON.parse(text) as Acl] as const),
      nodes: [...this.tree.nodes].map(
        ([path, { data, stat, acl }]) =>
          [
            path,
            data === null ? null : data.toString(),
            Buffer.from(stat),
            keys.get(JSON.stringify(acl)) ?? 0n,
          ] as const,
      ),
    });
  }

  /** Takes an observer that has nothing, or too little: with a snapshot. */
  async serveSnapshot(behind: readonly Buffer[] = []): Promise<ScriptedLink> {
    const link = await this.leader.link();
    await link.greet(this.epoch);
    link.send(leader.snap(this.zxid), this.snapshot(), ...behind);
    await link.serve(this.epoch);
    return link;
  }

  /** Takes an observer by what it lacks. @returns the position that it named, too */
  async serveDiff(): Promise<{ readonly link: ScriptedLink; readonly position: bigint }> {
    const link = await this.leader.link();
    const position = await link.greet(this.epoch);
    link.send(leader.diff(this.zxid));
    for (const { zxid, bytes } of this.log) if (zxid > position) link.send(packet(INFORM, zxid, bytes));
    await link.serve(this.epoch);
    return { link, position };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leader[Symbol.asyncDispose]();
  }
}
