import { type Client, isZkError } from "@zooid/client";
import { counted } from "@zooid/model";
import { aclJson, endLine, hasHiddenHash, headerLine, nodeLine, subtreeData } from "@zooid/model/subtree-file";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import { NewFile } from "../../new-file.ts";
import { Progress } from "../../progress.ts";
import { checkedPath } from "../../texts/znode-path.ts";
import { type WalkedNode, walk } from "../../walk.ts";

/** Nodes whose access lists are asked for at once. */
const BATCH_NODES = 200;
/** The servers' own nodes, which no export of the whole tree has. */
const RESERVED = "/zookeeper";

/** `export`: a subtree as JSON lines, which `import` and the console read. */
export const exportTree: Command = {
  name: "export",
  synopsis: "[--without-acl] [--partial] path [file]",
  flags: [
    { name: "without-acl", isOwn: true },
    { name: "partial", isOwn: true },
  ],
  summary:
    "Writes a subtree as JSON lines to a new file or to stdout, without ephemeral nodes; import and the console read it. " +
    "--partial leaves out what may not be read.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  runsProgram: true,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const path = checkedPath(operand(invocation, 0));
    const file = operands[1];
    if (file === undefined && output.format === "json") {
      throw usageError("export takes a file with --json: stdout has the result of the command");
    }
    const client = await clientFor(invocation, path);
    const withAcl = !flags.has("without-acl");
    const exporter = new Exporter(client, { path, withAcl, isPartial: flags.has("partial"), signal });
    const progress = new Progress(output, "exported");
    if (file === undefined) {
      for await (const { text, at } of exporter.lines()) {
        output.text(text);
        progress.step(at);
      }
    } else {
      await using target = await NewFile.open(file);
      for await (const { text, at } of exporter.lines()) {
        await target.write(text);
        progress.step(at);
      }
      await target.keep();
    }
    const { nodes, bytes, ephemerals, unreadable } = exporter.counts;
    const left = unreadable === 0 ? "" : `, ${unreadable} left out that may not be read`;
    output.note(
      `exported: ${counted(nodes, "node")}, ${counted(bytes, "byte")} of data, ${ephemerals} ephemeral left out${left}`,
    );
    return { path, file, ...exporter.counts };
  },
};

interface ExportOptions {
  readonly path: string;
  readonly withAcl: boolean;
  /** Nodes that may not be read are left out. */
  readonly isPartial: boolean;
  readonly signal: AbortSignal;
}

interface Line {
  readonly text: string;
  /** The node where the export is. */
  readonly at: string;
}

class Exporter {
  readonly counts = { nodes: 0, bytes: 0, ephemerals: 0, unreadable: 0 };
  readonly #client: Client;
  readonly #options: ExportOptions;

  constructor(client: Client, options: ExportOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * @throws NO_AUTH for what may not be read, unless that is left out: another subtree would come
   *   in
   */
  async *lines(): AsyncGenerator<Line, void, undefined> {
    const { path, signal } = this.#options;
    yield { text: headerLine(path, new Date().toISOString()), at: path };
    let batch: WalkedNode[] = [];
    const skipped = new Set<string>();
    for await (const node of walk(this.#client, path, { detail: "data", signal })) {
      if (node.path === RESERVED || node.path.startsWith(`${RESERVED}/`)) continue;
      // Nothing below a node that is left out has a parent in the file.
      if (skipped.has(parentOf(node.path))) {
        skipped.add(node.path);
        continue;
      }
      if (!this.#takes(node)) {
        skipped.add(node.path);
        continue;
      }
      batch.push(node);
      if (batch.length < BATCH_NODES) continue;
      yield* this.#linesOf(batch);
      batch = [];
    }
    yield* this.#linesOf(batch);
    yield { text: endLine(this.counts.nodes), at: path };
  }

  #takes({ path, stat }: WalkedNode): boolean {
    if (stat === null) {
      if (!this.#options.isPartial) throw forbidden(path, "may not be read");
      this.counts.unreadable++;
      return false;
    }
    // It belongs to a session, and would outlive it.
    if (stat.ephemeralOwner !== 0n) {
      if (path === this.#options.path) throw new CliError(`${path} is ephemeral`, { code: "REFUSED", path });
      this.counts.ephemerals++;
      return false;
    }
    return true;
  }

  async *#linesOf(batch: readonly WalkedNode[]): AsyncGenerator<Line, void, undefined> {
    const lists = await Promise.all(batch.map(({ path }) => this.#listOf(path)));
    for (const [i, { path, data }] of batch.entries()) {
      const acl = lists[i];
      if (acl === "gone") continue;
      this.counts.nodes++;
      this.counts.bytes += data?.length ?? 0;
      const below = this.#options.path === "/" ? (path === "/" ? "" : path) : path.slice(this.#options.path.length);
      yield { text: nodeLine({ path: below, data: subtreeData(data), acl: acl ?? null }), at: path };
    }
  }

  /** Undefined where it is left out; `gone` for a node that was deleted meanwhile. */
  async #listOf(path: string): Promise<ReturnType<typeof aclJson> | "gone" | undefined> {
    const { withAcl, isPartial, signal } = this.#options;
    if (!withAcl) return undefined;
    try {
      const { acl } = await this.#client.getAcl(path, { signal });
      if (!hasHiddenHash(acl)) return aclJson(acl);
      if (!isPartial) throw forbidden(path, "has an access list that is shown without its password hashes");
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return "gone";
      if (!isPartial || !isZkError(error, "NO_AUTH")) throw error;
    }
    return undefined;
  }
}

function forbidden(path: string, what: string): CliError {
  return new CliError(`Insufficient permission : ${path}`, {
    code: "NO_AUTH",
    path,
    plain: `${path} ${what}`,
    hint: "authenticate with addauth, leave it out with --partial, or leave out all lists with --without-acl",
  });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
