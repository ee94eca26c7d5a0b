import { createReadStream } from "node:fs";
import { type Client, type CreateMode, isZkError, type Stat } from "@zooid/client";
import { type Acl, counted, parentPath } from "@zooid/model";
import {
  aclJson,
  aclOf,
  hasHiddenHash,
  nodesOf,
  SubtreeFileError,
  type SubtreeLine,
  type SubtreeNode,
  subtreeBytes,
} from "@zooid/model/subtree-file";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import type { Output } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { checkedPath } from "../../texts/znode-path.ts";
import { walk } from "../../walk.ts";

/** Nodes and bytes in one transaction, well below the 1 MiB that stock servers take. */
const BATCH_NODES = 200;
const BATCH_BYTES = 256 * 1024;
const EXISTING = ["keep", "replace", "mirror"] as const;
type Existing = (typeof EXISTING)[number];
const RESERVED = "/zookeeper";

/** `import`: the nodes of a file that `export` or the console wrote. */
export const importTree: Command = {
  name: "import",
  synopsis: "[--existing keep|replace|mirror] [--resume] [--without-acl] [--map-acl from=to] [--dry-run] file path",
  flags: [
    { name: "existing", takesValue: true, isOwn: true },
    { name: "resume", isOwn: true },
    { name: "without-acl", isOwn: true },
    { name: "map-acl", takesValue: true, isOwn: true },
    { name: "dry-run", isOwn: true },
  ],
  summary:
    "Writes the nodes of an exported file below a path. Of nodes that exist, --existing keeps them, replaces their data and lists, " +
    "or mirrors the file: those that it lacks are deleted. --resume continues an interrupted import; --map-acl, which may be " +
    "given several times, changes an identity, as digest:old:hash=digest:new:hash; --dry-run only compares.",
  operandsMin: 2,
  operandsMax: 2,
  kind: "own",
  pathOperand: 1,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const file = operand(invocation, 0);
    const path = checkedPath(operand(invocation, 1));
    const settings: Settings = {
      path,
      existing: existingOf(flags),
      isResumed: flags.has("resume"),
      withAcl: !flags.has("without-acl"),
      identities: identityMap(flags.all("map-acl")),
      isDryRun: flags.has("dry-run"),
      signal,
    };
    if (file === "-") throw usageError("import reads its file twice, so it takes no standard input: name a file");
    if (settings.existing === "mirror" && path === "/") {
      throw usageError("mirror deletes what the file lacks, and / has the servers' own nodes: name a node below it");
    }
    // Everything that can be wrong in the file is found before anything is written.
    const paths = await checkFile(file, settings);
    const client = await clientFor(invocation, path);
    const importer = new Importer(client, settings);
    try {
      await importer.checkTarget();
      await importer.write(file, output);
      if (settings.existing === "mirror") await importer.prune(paths);
    } catch (error) {
      const written = importer.counts.created + importer.counts.replaced;
      if (written > 0 && !settings.isDryRun) {
        output.note(`${counted(written, "node")} written before: continue with --resume, and the same --existing`);
      }
      throw error;
    }
    output.line(summaryOf(importer.counts, settings));
    return { file, path, dryRun: settings.isDryRun, ...importer.counts };
  },
};

interface Settings {
  readonly path: string;
  /** Undefined: a node that exists is an error. */
  readonly existing: Existing | undefined;
  /** Nodes that are as in the file are passed over. */
  readonly isResumed: boolean;
  readonly withAcl: boolean;
  readonly identities: ReadonlyMap<string, string>;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

interface Counts {
  created: number;
  replaced: number;
  /** They are as in the file. */
  same: number;
  kept: number;
  deleted: number;
  /** Nodes that the file lacks, and that hold ephemeral ones. */
  notDeleted: number;
  bytes: number;
}

function existingOf(flags: Flags): Existing | undefined {
  const text = flags.value("existing");
  if (text === undefined) return undefined;
  const existing = EXISTING.find((each) => each === text);
  if (existing === undefined)
    throw usageError(`--existing takes keep, replace or mirror, found ${JSON.stringify(text)}`);
  return existing;
}

/** Each is `scheme:id=scheme:id`: an identity of the file, and the one that takes its place. */
function identityMap(pairs: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const pair of pairs) {
    // Ids may have equals signs, as hashes and subjects do: the separator is before a scheme.
    const at = pair.search(/=[A-Za-z0-9]+:/);
    const [from, to] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at < 1 || !from.includes(":")) {
      throw usageError(`--map-acl takes scheme:id=scheme:id, found ${JSON.stringify(pair)}`);
    }
    map.set(from, to);
  }
  return map;
}

function mapped(acl: Acl, identities: ReadonlyMap<string, string>): Acl {
  return acl.map((entry) => {
    const to = identities.get(`${entry.scheme}:${entry.id}`);
    if (to === undefined) return entry;
    const colon = to.indexOf(":");
    return { ...entry, scheme: to.slice(0, colon), id: to.slice(colon + 1) };
  });
}

async function* linesOf(file: string, signal: AbortSignal): AsyncGenerator<SubtreeLine, void, undefined> {
  try {
    yield* nodesOf(textOf(file, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SubtreeFileError) throw new CliError(`${file}: ${error.message}`, { code: "INVALID_FILE" });
    if (error instanceof CliError) throw error;
    if (error instanceof TypeError) throw new CliError(`${file} is no UTF-8`, { code: "INVALID_FILE" });
    if (isSystemError(error)) throw new CliError(`cannot read ${file}: ${error.message}`, { code: "UNREADABLE_FILE" });
    throw error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

async function* textOf(file: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of createReadStream(file, { signal })) {
    yield decoder.decode(chunk as Uint8Array, { stream: true });
  }
  yield decoder.decode();
}

/** Where a node of the file goes. */
function targetOf(root: string, { path }: SubtreeNode): string {
  if (path === "") return root;
  return root === "/" ? path : `${root}${path}`;
}

/**
 * @returns the paths of the nodes that are written
 * @throws INVALID_FILE with the number of the line
 */
async function checkFile(
  file: string,
  { path: root, withAcl, identities, signal }: Settings,
): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  for await (const { node, number } of linesOf(file, signal)) {
    const fault = (text: string): CliError =>
      new CliError(`${file}, line ${number}: ${text}`, { code: "INVALID_FILE" });
    if (node.path !== "" && !node.path.startsWith("/")) throw fault("the path of a node is empty, or begins with /");
    const path = checkedPath(targetOf(root, node));
    if (path === RESERVED || path.startsWith(`${RESERVED}/`)) throw fault(`${path} belongs to the servers`);
    if (paths.has(path)) throw fault(`the file has another node ${node.path} before`);
    if (paths.size === 0 ? node.path !== "" : !paths.has(parentPath(path))) {
      throw fault(
        paths.size === 0
          ? "the first node is the root, with an empty path"
          : `the parent of ${node.path} is not before it`,
      );
    }
    paths.add(path);
    if (withAcl && node.acl !== null && hasHiddenHash(mapped(aclOf(node.acl), identities))) {
      throw fault(
        "its access list was exported without password hashes: export as an identity with ADMIN, or leave lists out with --without-acl",
      );
    }
  }
  if (paths.size === 0) throw new CliError(`${file} has no node`, { code: "INVALID_FILE" });
  return paths;
}

interface Present {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
  /** Undefined where no list is set. */
  readonly list: { readonly acl: Acl; readonly aversion: number } | undefined;
}

interface Target {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: Acl | undefined;
  readonly node: SubtreeNode;
  present: Present | undefined;
}

/** Writes in transactions of many nodes, parents first, one after another. */
class Importer {
  readonly counts: Counts = { created: 0, replaced: 0, same: 0, kept: 0, deleted: 0, notDeleted: 0, bytes: 0 };
  readonly #client: Client;
  readonly #settings: Settings;
  /** Created by this import: nothing is below them yet, so nothing is asked for there. */
  readonly #created = new Set<string>();

  constructor(client: Client, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** @throws NODE_EXISTS where it was not said what becomes of nodes that exist */
  async checkTarget(): Promise<void> {
    const { path, existing, isResumed, signal } = this.#settings;
    if (existing !== undefined || isResumed || path === "/") return;
    if ((await this.#client.exists(path, { signal })) === null) return;
    throw new CliError(`Node already exists: ${path}`, {
      code: "NODE_EXISTS",
      path,
      plain: `${path} exists`,
      hint: "say with --existing what becomes of nodes that exist: keep, replace or mirror; or continue an import with --resume",
    });
  }

  async write(file: string, output: Output): Promise<void> {
    const { path: root, withAcl, identities, isDryRun, signal } = this.#settings;
    const progress = new Progress(output, isDryRun ? "compared" : "imported");
    let [batch, batchBytes]: [Target[], number] = [[], 0];
    for await (const { node } of linesOf(file, signal)) {
      const data = subtreeBytes(node.data);
      const acl = withAcl && node.acl !== null ? mapped(aclOf(node.acl), identities) : undefined;
      const bytes = data?.length ?? 0;
      if (batch.length >= BATCH_NODES || (batch.length > 0 && batchBytes + bytes > BATCH_BYTES)) {
        await this.#writeBatch(batch);
        [batch, batchBytes] = [[], 0];
      }
      const path = targetOf(root, node);
      batch.push({ path, data, acl, node, present: undefined });
      batchBytes += bytes;
      progress.step(path);
    }
    await this.#writeBatch(batch);
  }

  async #writeBatch(batch: readonly Target[]): Promise<void> {
    const { path: root, isDryRun, signal } = this.#settings;
    await this.#read(batch);
    const transaction = this.#client.transaction();
    const lists: Target[] = [];
    const done = { created: 0, replaced: 0, bytes: 0 };
    let steps = 0;
    for (const target of batch) {
      const { path, data, acl, node, present } = target;
      if (present === undefined) {
        done.created++;
        done.bytes += data?.length ?? 0;
        this.#created.add(path);
        if (isDryRun) continue;
        if (path === root && path !== "/") {
          // Its ancestors may be missing, too.
          await this.#client.create(path, data, { ...creationOf(node, acl), parents: "persistent", signal });
          continue;
        }
        transaction.create(path, data, creationOf(node, acl));
        steps++;
        continue;
      }
      if (!this.#isReplaced(target, present)) continue;
      done.replaced++;
      done.bytes += data?.length ?? 0;
      if (isDryRun) continue;
      if (!isSameData(data, present.data)) {
        transaction.set(path, data, { version: present.stat.version });
        steps++;
      }
      if (!isSameList(acl, present)) lists.push(target);
    }
    if (steps > 0) await transaction.commit({ signal });
    // A transaction sets no lists. The order of a session's requests is kept.
    await Promise.all(
      lists.map(({ path, acl, present }) =>
        acl === undefined
          ? undefined
          : this.#client.setAcl(path, acl, { version: present?.list?.aversion ?? -1, signal }),
      ),
    );
    this.counts.created += done.created;
    this.counts.replaced += done.replaced;
    this.counts.bytes += done.bytes;
  }

  /** Counts a node that stays as it is. @throws NODE_EXISTS */
  #isReplaced({ path, data, acl }: Target, present: Present): boolean {
    const { existing, isResumed } = this.#settings;
    if (isSameData(data, present.data) && isSameList(acl, present)) {
      if (existing !== undefined || isResumed || path === "/") {
        this.counts.same++;
        return false;
      }
    } else if (existing === "keep") {
      this.counts.kept++;
      return false;
    } else if (existing !== undefined) return true;
    throw new CliError(`Node already exists: ${path}`, {
      code: "NODE_EXISTS",
      path,
      plain: `${path} exists with other data or another access list`,
      hint: "say with --existing what becomes of nodes that exist: keep, replace or mirror",
    });
  }

  async #read(batch: readonly Target[]): Promise<void> {
    const { path: root } = this.#settings;
    const absent = new Set<string>();
    const asked = batch.filter(({ path }) => {
      const parent = parentPath(path);
      const isNew = path !== root && (this.#created.has(parent) || absent.has(parent));
      if (isNew) absent.add(path);
      return !isNew;
    });
    const found = await Promise.all(asked.map((target) => this.#presentOf(target)));
    for (const [i, target] of asked.entries()) target.present = found[i];
  }

  async #presentOf({ path, acl }: Target): Promise<Present | undefined> {
    const { signal } = this.#settings;
    const reading = acl === undefined ? undefined : this.#client.getAcl(path, { signal });
    // Its error is that of the data, too.
    reading?.catch(() => undefined);
    try {
      const { data, stat } = await this.#client.get(path, { signal });
      const list = await reading;
      return { data, stat, list: list === undefined ? undefined : { acl: list.acl, aversion: list.stat.aversion } };
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return undefined;
      throw error;
    }
  }

  /** Deletes nodes that the file lacks, the deepest first. Nodes above ephemeral ones stay. */
  async prune(paths: ReadonlySet<string>): Promise<void> {
    const { path: root, isDryRun, signal } = this.#settings;
    const lacking: { readonly path: string; readonly version: number }[] = [];
    const held = new Set<string>();
    try {
      for await (const { path, stat } of walk(this.#client, root, { detail: "stats", signal })) {
        if (paths.has(path)) continue;
        if (stat === null || stat.ephemeralOwner !== 0n) {
          for (let at = path; at !== root && !held.has(at); at = parentPath(at)) held.add(at);
        } else lacking.push({ path, version: stat.version });
      }
    } catch (error) {
      if (!isDryRun || !isZkError(error, "NO_NODE")) throw error;
    }
    for (const { path, version } of lacking.toReversed()) {
      if (held.has(path)) {
        this.counts.notDeleted++;
        continue;
      }
      if (!isDryRun) await this.#client.delete(path, { version, signal });
      this.counts.deleted++;
    }
  }
}

function creationOf({ kind, ttlMs }: SubtreeNode, acl: Acl | undefined): { readonly acl?: Acl } & CreateMode {
  const list = acl === undefined ? {} : { acl };
  if (kind === "container") return { ...list, mode: "container" };
  return kind === "ttl" && ttlMs !== undefined ? { ...list, mode: "persistent-with-ttl", ttlMs } : list;
}

function isSameData(data: Uint8Array | null, present: Uint8Array | null): boolean {
  if (data === null || present === null) return data === present;
  return Buffer.compare(data, present) === 0;
}

function isSameList(acl: Acl | undefined, { list }: Present): boolean {
  return acl === undefined || JSON.stringify(aclJson(acl)) === JSON.stringify(aclJson(list?.acl ?? []));
}

function summaryOf({ created, replaced, same, kept, deleted, notDeleted, bytes }: Counts, settings: Settings): string {
  const { existing, isDryRun } = settings;
  const parts = [
    `${created} created`,
    ...(existing === undefined ? [] : [`${replaced} replaced`]),
    ...(same > 0 ? [`${same} the same already`] : []),
    ...(kept > 0 ? [`${kept} kept`] : []),
    ...(existing === "mirror" ? [`${deleted} deleted`] : []),
    ...(notDeleted > 0 ? [`${notDeleted} not deleted, since they hold ephemeral nodes`] : []),
    `${counted(bytes, "byte")} of data`,
  ];
  return `${isDryRun ? "would import: " : ""}${parts.join(", ")}`;
}
