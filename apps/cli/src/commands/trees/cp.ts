import { type Client, isZkError, type Transaction, TransactionError } from "@zooid/client";
import type { Acl } from "@zooid/model";
import { counted } from "@zooid/model";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import { NEVER_VERSION } from "../../never-version.ts";
import { Progress } from "../../progress.ts";
import { checkedPath } from "../../texts/znode-path.ts";
import { movedPath, type WalkedNode, walk } from "../../walk.ts";

/** Nodes and bytes in one transaction, well below the 1 MiB that stock servers take. */
const BATCH_NODES = 200;
const BATCH_BYTES = 256 * 1024;

export const cp: Command = {
  name: "cp",
  synopsis: "[--update] [--dry-run] path new-path",
  flags: [
    { name: "update", isOwn: true },
    { name: "dry-run", isOwn: true },
  ],
  summary:
    "Copies a subtree with data and access lists, without ephemeral nodes; --update also writes to nodes that exist, " +
    "--dry-run only checks and counts.",
  operandsMin: 2,
  operandsMax: 2,
  kind: "own",
  runsProgram: true,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const from = checkedPath(operand(invocation, 0));
    const to = checkedPath(operand(invocation, 1));
    if (to === from || from === "/" || to.startsWith(`${from}/`)) {
      throw usageError(`${to} is ${from} or lies below it; a copy there would copy itself`);
    }
    const client = await clientFor(invocation, from);
    const isUpdate = flags.has("update");
    if (!isUpdate && (await client.exists(to, { signal })) !== null) {
      throw new CliError(`Node already exists: ${to}`, {
        code: "NODE_EXISTS",
        path: to,
        plain: `${to} exists`,
        hint: "choose another path, or write over nodes that exist with --update",
      });
    }
    const isDryRun = flags.has("dry-run");
    const copier = new Copier(client, { from, to, isUpdate, isDryRun, signal });
    const progress = new Progress(output, isDryRun ? "counted" : "copied");
    for await (const node of walk(client, from, { detail: "data", signal })) {
      await copier.take(node);
      progress.step(node.path);
    }
    await copier.end();
    const { created, updated, ephemerals, bytes } = copier.counts;
    const written = isUpdate ? `${created} created, ${updated} updated` : `${created} created`;
    output.line(
      `${isDryRun ? "would copy: " : ""}${written}, ${counted(bytes, "byte")} of data, ${ephemerals} ephemeral left out`,
    );
    return { from, to, dryRun: isDryRun, ...copier.counts };
  },
};

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly isUpdate: boolean;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/** Writes in transactions of many nodes, parents first, one after another. */
class Copier {
  readonly counts = { created: 0, updated: 0, ephemerals: 0, bytes: 0 };
  readonly #client: Client;
  readonly #options: CopyOptions;
  #batch: WalkedNode[] = [];
  #batchBytes = 0;
  /** In a dry run: the last target and those above it, which the real run would have made. */
  #chain: Target[] = [];

  constructor(client: Client, options: CopyOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** @throws NO_AUTH for a node that may not be read: a copy without it would be another tree */
  async take(node: WalkedNode): Promise<void> {
    if (node.stat === null) {
      throw new CliError(`Insufficient permission : ${node.path}`, {
        code: "NO_AUTH",
        path: node.path,
        plain: `${node.path} may not be read${this.#copiedText()}`,
      });
    }
    // It belongs to a session, and would outlive it as a copy.
    if (node.stat.ephemeralOwner !== 0n) {
      this.counts.ephemerals++;
      return;
    }
    const bytes = node.stat.dataLength;
    if (this.#batch.length >= BATCH_NODES || this.#batchBytes + bytes > BATCH_BYTES) await this.end();
    this.#batch.push(node);
    this.#batchBytes += bytes;
  }

  async end(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0) return;
    const { isUpdate, isDryRun, signal } = this.#options;
    const targets = await Promise.all(batch.map((node) => this.#targetOf(node)));
    for (const [index, { exists }] of targets.entries()) {
      this.counts.bytes += batch[index]?.stat?.dataLength ?? 0;
      if (exists) this.counts.updated++;
      else this.counts.created++;
    }
    const transaction = this.#client.transaction();
    if (isDryRun) for (const made of this.#chainTo(batch[0]?.path)) addWrite(transaction, { ...made, data: null });
    for (const target of targets) addWrite(transaction, target);
    try {
      if (isDryRun) await verify(transaction, signal);
      else await transaction.commit({ signal });
      for (const target of isDryRun ? targets : []) this.#chain = [...this.#chainTo(target.source), target];
    } catch (error) {
      if (!isZkError(error, "NODE_EXISTS") || isUpdate) throw error;
      throw new CliError(`Node already exists: ${error.path ?? ""}`, {
        code: "NODE_EXISTS",
        path: error.path,
        plain: "another client created the node meanwhile",
        hint: `${isDryRun ? "" : "the copied nodes remain: delete them with deleteall, or "}continue with --update`,
      });
    }
  }

  #copiedText(): string {
    return this.#options.isDryRun ? "" : "; the copied nodes remain";
  }

  /** The part of the chain above a node of the walk, which visits children before siblings. */
  #chainTo(source = ""): Target[] {
    return this.#chain.filter((target) => source.startsWith(`${target.source}/`));
  }

  async #targetOf({ path, data }: WalkedNode): Promise<Target> {
    const { from, to, isUpdate, signal } = this.#options;
    const target = movedPath(path, from, to);
    const exists = isUpdate && (await this.#client.exists(target, { signal })) !== null;
    const acl = exists ? undefined : (await this.#client.getAcl(path, { signal })).acl;
    if (acl !== undefined) requireWhole(acl, path, this.#copiedText());
    return { source: path, path: target, data, acl, exists };
  }
}

function addWrite(transaction: Transaction, { path, data, acl, exists }: Target): void {
  if (exists) transaction.set(path, data);
  else transaction.create(path, data, acl === undefined ? {} : { acl });
}

/** Has the server check a transaction that it cannot carry out. @throws what it refuses it for */
async function verify(transaction: Transaction, signal: AbortSignal): Promise<void> {
  try {
    await transaction.check("/", NEVER_VERSION).commit({ signal });
  } catch (error) {
    if (!(error instanceof TransactionError) || error.failedIndex < error.ops.length - 1) throw error;
  }
}

interface Target {
  /** The node that is copied. */
  readonly source: string;
  readonly path: string;
  readonly data: Uint8Array | null;
  /** Undefined where it stays as it is. */
  readonly acl: Acl | undefined;
  readonly exists: boolean;
}

/**
 * Servers hide the hashes of passwords from clients without ADMIN: the copy would admit no user.
 */
function requireWhole(acl: Acl, path: string, copied: string): void {
  if (!acl.some(({ scheme, id }) => scheme === "digest" && id.endsWith(":x"))) return;
  throw new CliError(`Insufficient permission : ${path}`, {
    code: "NO_AUTH",
    path,
    plain: `the access list of ${path} is shown without its password hashes${copied}`,
    hint: "authenticate with addauth as an identity that has the permission ADMIN",
  });
}
