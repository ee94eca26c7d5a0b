/** Nodes of a subtree that come in: first what would happen to each, then the writes, in order. */
import { type Client, isZkError } from "@zooid/client";
import { type Acl, type Identity, OPEN_ACL, parentPath } from "@zooid/model";
import { aclJson, aclOf, hasHiddenHash } from "@zooid/model/subtree-file";
import { dataBytes } from "../api/json.ts";
import type { RightJson } from "../api/node-fact-shapes.ts";
import type { ImportOutcome, ImportRequestJson, ImportResultJson } from "../api/subtree-shapes.ts";
import { problemOf } from "../http/problem.ts";
import { effectiveRights, identitiesOf } from "./effective-rights.ts";

/** A version that no write gives a node: a change at it is refused, whatever the node. */
const NEVER_VERSION = 2 ** 31 - 1;

type Result = ImportResultJson["results"][number];

interface Incoming {
  /** Its data were left out of the export. */
  readonly isMasked: boolean;
  readonly path: string;
  /** Null is not the same as none. */
  readonly data: Uint8Array | null;
  /** Undefined: the list is not set. */
  readonly acl: Acl | undefined;
}

interface Present {
  readonly data: Uint8Array | null;
  readonly version: number;
  readonly acl: Acl;
  readonly aversion: number;
}

interface Planned {
  readonly node: Incoming;
  readonly present: Present | undefined;
  readonly outcome: ImportOutcome;
  readonly detail: string | null;
}

export interface ImportOptions {
  readonly request: ImportRequestJson;
  readonly identities: readonly Identity[];
  readonly signal: AbortSignal;
}

export async function importNodes(
  client: Client,
  { request, identities, signal }: ImportOptions,
): Promise<ImportResultJson> {
  const { isDryRun, existing } = request;
  const nodes = request.nodes.map((node): Incoming => incoming(request, node));
  const judge = new ListJudge(client, signal);
  const firstAt = new Map(nodes.toReversed().map((node) => [node.path, node]));
  const planned = await Promise.all(
    nodes.map((node) => plan(client, node, { existing, judge, isFirst: firstAt.get(node.path) === node, signal })),
  );
  const [first] = planned;
  // Its ancestors may have to be created one by one.
  const isRoot = first?.node.path === request.path;
  if (isDryRun) {
    const rights = new Rights(client, await identitiesOf(client, identities, signal), signal);
    const results: Result[] = [];
    // In order, as the writes are: each finds what those before it have left.
    for (const each of planned) results.push(await predicted(each, rights, { isRoot: isRoot && each === first }));
    return { results };
  }
  const results = first === undefined ? [] : [write(client, first, { isRoot, signal })];
  if (isRoot) await results[0];
  // The requests of a session are carried out in order: a parent is there before its children.
  results.push(...planned.slice(1).map((each) => write(client, each, { isRoot: false, signal })));
  return { results: await Promise.all(results) };
}

function incoming({ path: root, withAcl }: ImportRequestJson, node: ImportRequestJson["nodes"][number]): Incoming {
  return {
    path: root === "/" ? (node.path === "" ? "/" : node.path) : `${root}${node.path}`,
    isMasked: node.isMasked === true,
    data: node.data === null ? null : dataBytes(node.data),
    acl: withAcl && node.acl != null ? aclOf(node.acl) : undefined,
  };
}

interface Planning {
  readonly existing: "keep" | "replace";
  readonly judge: ListJudge;
  /** Whether no node before it has its path. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

/** The part that a dry run and an import share: both refuse the same. */
async function plan(client: Client, node: Incoming, { existing, judge, isFirst, signal }: Planning): Promise<Planned> {
  const of = (outcome: ImportOutcome, present?: Present, detail: string | null = null): Planned => ({
    node,
    present,
    outcome,
    detail,
  });
  if (node.acl !== undefined && hasHiddenHash(node.acl)) {
    return of("refuse", undefined, "its access list has a digest whose hash is hidden: export as a user with admin");
  }
  if (node.isMasked) return of("refuse", undefined, "its data are masked: export with reveal=true");
  if (!isFirst) return of("refuse", undefined, "the request has another node with this path before it");
  try {
    const present = await read(client, node, signal);
    const isSame = present !== undefined && !changesData(node, present) && !changesAcl(node, present);
    const isWritten = present === undefined || (existing === "replace" && !isSame);
    const fault = isWritten && node.acl !== undefined ? await judge.faultOf(node.acl) : undefined;
    if (fault !== undefined) return of("refuse", present, fault);
    if (present === undefined) return of("create");
    if (isSame) return of("same", present);
    return of(existing === "keep" ? "keep" : "replace", present);
  } catch (error) {
    return of("refuse", undefined, textOf(error));
  }
}

/** Undefined where there is no such node. The access list is read where it may be set. */
async function read(client: Client, { path, acl }: Incoming, signal: AbortSignal): Promise<Present | undefined> {
  const reading = acl === undefined ? undefined : client.getAcl(path, { signal });
  // Its error is that of the data, too, or is reported behind it.
  reading?.catch(() => undefined);
  try {
    const { data, stat } = await client.get(path, { signal });
    const list = await reading;
    const { version, aversion } = stat;
    return { data, version, aversion: list?.stat.aversion ?? aversion, acl: list?.acl ?? [] };
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return undefined;
    throw error;
  }
}

interface Writing {
  /** Its missing ancestors are created, too. */
  readonly isRoot: boolean;
  readonly signal: AbortSignal;
}

async function write(client: Client, planned: Planned, { isRoot, signal }: Writing): Promise<Result> {
  const { node, present, outcome, detail } = planned;
  const { path, data, acl } = node;
  try {
    if (outcome === "create") {
      await client.create(path, data, { acl: acl ?? OPEN_ACL, signal, ...(isRoot ? { parents: "persistent" } : {}) });
    } else if (outcome === "replace" && present !== undefined) {
      const { version, aversion } = present;
      await Promise.all([
        changesData(node, present) ? client.set(path, data, { version, signal }) : undefined,
        acl !== undefined && changesAcl(node, present)
          ? client.setAcl(path, acl, { version: aversion, signal })
          : undefined,
      ]);
    }
    return { path, outcome, detail };
  } catch (error) {
    signal.throwIfAborted();
    return { path, outcome: "refuse", detail: textOf(error) };
  }
}

/**
 * The servers' verdict about the form of access lists: which schemes and ids there are, they know.
 * A change of a list at a version that no node has is refused for the list before anything else.
 */
class ListJudge {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #faults = new Map<string, Promise<string | undefined>>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Why a list is refused; each different one is asked for once. */
  faultOf(acl: Acl): Promise<string | undefined> {
    const key = JSON.stringify(aclJson(acl));
    const known = this.#faults.get(key) ?? this.#ask(acl);
    this.#faults.set(key, known);
    return known;
  }

  async #ask(acl: Acl): Promise<string | undefined> {
    try {
      await this.#client.setAcl("/", acl, { version: NEVER_VERSION, signal: this.#signal });
    } catch (error) {
      if (isZkError(error, "INVALID_ACL")) return "the server does not accept its access list";
      if (!isZkError(error) || error.outcome !== "rejected") throw error;
    }
    return undefined;
  }
}

/** The refusals of the servers, and for the nodes behind them, the effects of the write. */
async function predicted(
  { node, present, outcome, detail }: Planned,
  rights: Rights,
  { isRoot }: { readonly isRoot: boolean },
): Promise<Result> {
  const { path, acl } = node;
  const refused = (why: string): Result => ({ path, outcome: "refuse", detail: why });
  if (outcome === "create") {
    const parent = isRoot ? await rights.nearest(parentPath(path)) : parentPath(path);
    const found = await rights.kindOf(parent);
    if (found === "none") return refused(`there is no node ${parent}`);
    if (found === "ephemeral") return refused(`${parent} is ephemeral, and has no children`);
    if ((await rights.verdict(parent, "create-children")) === "no") return refused(lacking(parent));
    for (let at = parentPath(path); at !== parent; at = parentPath(at)) rights.written(at, OPEN_ACL);
    rights.written(path, acl ?? OPEN_ACL);
  } else if (outcome === "replace" && present !== undefined) {
    if (changesData(node, present) && (await rights.verdict(path, "write")) === "no") return refused(lacking(path));
    if (acl !== undefined && changesAcl(node, present)) {
      if ((await rights.verdict(path, "set-acl")) === "no") return refused(lacking(path));
      rights.written(path, acl);
    }
  }
  return { path, outcome, detail };
}

function lacking(path: string): string {
  return `the access list of ${path} does not grant it`;
}

/** Nodes as the writes that were predicted before leave them. Each is read once. */
class Rights {
  readonly #client: Client;
  readonly #identities: readonly Identity[];
  readonly #signal: AbortSignal;
  readonly #written = new Map<string, Acl>();
  readonly #kinds = new Map<string, Promise<"none" | "ephemeral" | "node">>();
  readonly #lists = new Map<string, Promise<Acl | undefined>>();

  constructor(client: Client, identities: readonly Identity[], signal: AbortSignal) {
    this.#client = client;
    this.#identities = identities;
    this.#signal = signal;
  }

  /** The node is there from now on, with this list. */
  written(path: string, acl: Acl): void {
    this.#written.set(path, acl);
  }

  async kindOf(path: string): Promise<"none" | "ephemeral" | "node"> {
    if (this.#written.has(path)) return "node";
    const known = this.#kinds.get(path) ?? this.#readKind(path);
    this.#kinds.set(path, known);
    return await known;
  }

  /** The path itself, or its nearest ancestor that is there. */
  async nearest(path: string): Promise<string> {
    let at = path;
    while (at !== "/" && (await this.kindOf(at)) === "none") at = parentPath(at);
    return at;
  }

  async verdict(path: string, action: RightJson["action"]): Promise<RightJson["verdict"]> {
    const acl = this.#written.get(path) ?? (await this.#listOf(path));
    if (acl === undefined) return "unknown";
    const rights = effectiveRights({ path, identities: this.#identities, acl, parentAcl: undefined });
    return rights.find((right) => right.action === action)?.verdict ?? "unknown";
  }

  #listOf(path: string): Promise<Acl | undefined> {
    const known = this.#lists.get(path) ?? this.#readList(path);
    this.#lists.set(path, known);
    return known;
  }

  async #readKind(path: string): Promise<"none" | "ephemeral" | "node"> {
    const stat = await this.#client.exists(path, { signal: this.#signal });
    if (stat === null) return "none";
    return stat.ephemeralOwner === 0n ? "node" : "ephemeral";
  }

  async #readList(path: string): Promise<Acl | undefined> {
    try {
      return (await this.#client.getAcl(path, { signal: this.#signal })).acl;
    } catch (error) {
      if (isZkError(error, "NO_NODE") || isZkError(error, "NO_AUTH")) return undefined;
      throw error;
    }
  }
}

function changesData({ data }: Incoming, present: Present): boolean {
  if (data === null || present.data === null) return data !== present.data;
  return Buffer.compare(data, present.data) !== 0;
}

function changesAcl({ acl }: Incoming, present: Present): boolean {
  return acl !== undefined && JSON.stringify(aclJson(acl)) !== JSON.stringify(aclJson(present.acl));
}

function textOf(error: unknown): string {
  return problemOf(error)?.detail ?? (error instanceof Error ? error.message : String(error));
}
