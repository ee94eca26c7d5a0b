/** Nodes of a subtree that come in: first what would happen to each, then the writes, in order. */
import { type Client, isZkError } from "@zooid/client";
import { type Acl, type Identity, OPEN_ACL, parentPath } from "@zooid/model";
import { aclJson, aclOf, dataBytes } from "../api/json.ts";
import type { RightJson } from "../api/node-fact-shapes.ts";
import type { ImportOutcome, ImportRequestJson, ImportResultJson } from "../api/subtree-shapes.ts";
import { effectiveRights, identitiesOf } from "./effective-rights.ts";

/** The hash of a digest that the exporting server did not show. */
const HIDDEN_HASH = /:x$/;

type Result = ImportResultJson["results"][number];

interface Incoming {
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
  const planned = await Promise.all(nodes.map((node) => plan(client, node, { existing, signal })));
  if (isDryRun) {
    const rights = new Rights(client, await identitiesOf(client, identities, signal), {
      lists: listsOf(planned),
      signal,
    });
    return { results: await Promise.all(planned.map((each) => predicted(each, rights))) };
  }
  // Its ancestors may have to be created one by one.
  const [first] = planned;
  const isRoot = first?.node.path === request.path;
  const results = first === undefined ? [] : [write(client, first, { isRoot, signal })];
  if (isRoot) await results[0];
  // The requests of a session are carried out in order: a parent is there before its children.
  results.push(...planned.slice(1).map((each) => write(client, each, { isRoot: false, signal })));
  return { results: await Promise.all(results) };
}

function incoming({ path: root, withAcl }: ImportRequestJson, node: ImportRequestJson["nodes"][number]): Incoming {
  return {
    path: root === "/" ? (node.path === "" ? "/" : node.path) : `${root}${node.path}`,
    data: node.data === null ? null : dataBytes(node.data),
    acl: withAcl && node.acl != null ? aclOf(node.acl) : undefined,
  };
}

async function plan(
  client: Client,
  node: Incoming,
  { existing, signal }: { readonly existing: "keep" | "replace"; readonly signal: AbortSignal },
): Promise<Planned> {
  const of = (outcome: ImportOutcome, present?: Present, detail: string | null = null): Planned => ({
    ...{ node, present, outcome, detail },
  });
  if (node.acl?.some(({ scheme, id }) => scheme === "digest" && HIDDEN_HASH.test(id)) === true) {
    return of("refuse", undefined, "its access list has a digest whose hash is hidden: export as a user with admin");
  }
  try {
    const present = await read(client, node, signal);
    if (present === undefined) return of("create");
    const isSame = !changesData(node, present) && !changesAcl(node, present);
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

/** The lists that nodes have behind the writes to them: a child comes behind its parent's list. */
function listsOf(planned: readonly Planned[]): ReadonlyMap<string, Acl> {
  const changed = planned.filter(
    ({ node, outcome }) => outcome === "create" || (outcome === "replace" && node.acl !== undefined),
  );
  return new Map(changed.map(({ node: { path, acl } }) => [path, acl ?? OPEN_ACL]));
}

/**
 * What the access lists would refuse. A parent that is not there comes with an earlier request of
 * the import.
 */
async function predicted({ node, present, outcome, detail }: Planned, rights: Rights): Promise<Result> {
  const { path } = node;
  const needed: RightJson["action"][] = [];
  if (outcome === "replace" && present !== undefined) {
    if (changesData(node, present)) needed.push("write");
    if (changesAcl(node, present)) needed.push("set-acl");
  }
  const at = outcome === "create" ? parentPath(path) : path;
  if (outcome === "create") needed.push("create-children");
  for (const action of needed) {
    // Its own list, which is set, decides nothing yet about the node itself.
    if ((await rights.verdict(at, action, { isOwn: at === path })) === "no") {
      return { path, outcome: "refuse", detail: `the access list of ${at} does not grant it` };
    }
  }
  return { path, outcome, detail };
}

/** Verdicts by path, each list read once. */
class Rights {
  readonly #client: Client;
  readonly #identities: readonly Identity[];
  readonly #signal: AbortSignal;
  readonly #lists: ReadonlyMap<string, Acl>;
  readonly #read = new Map<string, Promise<readonly RightJson[]>>();

  /** @param lists those that the import itself sets */
  constructor(
    client: Client,
    identities: readonly Identity[],
    { lists, signal }: { readonly lists: ReadonlyMap<string, Acl>; readonly signal: AbortSignal },
  ) {
    this.#client = client;
    this.#identities = identities;
    this.#lists = lists;
    this.#signal = signal;
  }

  /** @param isOwn by the list that the node has before the import */
  async verdict(
    path: string,
    action: RightJson["action"],
    { isOwn }: { readonly isOwn: boolean },
  ): Promise<RightJson["verdict"]> {
    const planned = isOwn ? undefined : this.#lists.get(path);
    const key = `${planned === undefined ? "before" : "behind"} ${path}`;
    let reading = this.#read.get(key);
    if (reading === undefined) {
      reading = this.#rightsOf(path, planned);
      this.#read.set(key, reading);
    }
    return (await reading).find((right) => right.action === action)?.verdict ?? "unknown";
  }

  async #rightsOf(path: string, planned: Acl | undefined): Promise<readonly RightJson[]> {
    try {
      const acl = planned ?? (await this.#client.getAcl(path, { signal: this.#signal })).acl;
      return effectiveRights({ path, identities: this.#identities, acl, parentAcl: undefined });
    } catch (error) {
      if (isZkError(error, "NO_NODE") || isZkError(error, "NO_AUTH")) return [];
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
  return error instanceof Error ? error.message : String(error);
}
