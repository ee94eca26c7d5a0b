import type { Client } from "@zooid/client";
import { counted } from "@zooid/model";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, givenNode, type Invocation, operand } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import { readLocalFile } from "../../local-file.ts";
import type { JsonObject, Output } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { dataJson } from "../../texts/data-text.ts";
import { lineDiff } from "../../texts/line-diff.ts";
import { shownText, textOf } from "../../texts/shown-text.ts";
import { checkedPath } from "../../texts/znode-path.ts";
import { comparePaths, movedPath, noteForbidden, type WalkedNode, walk } from "../../walk.ts";

export const diff: Command = {
  name: "diff",
  synopsis: "[-q] path other-path | [-q] --file name path",
  flags: [{ name: "q" }, { name: "file", takesValue: true, isOwn: true }],
  summary: "Compares two subtrees, or a node's data with a local file; -q prints no data. Fails if they differ.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  runsProgram: true,
  pathOperand: 0,
  async run(invocation) {
    const { path, client } = await givenNode(invocation);
    const file = invocation.flags.value("file");
    if (file !== undefined) return await compareWithFile(invocation, { client, path, file });
    if (invocation.operands.length < 2) throw usageError("diff takes two paths, or one and --file");
    const other = checkedPath(operand(invocation, 1));
    return await compareSubtrees(invocation, { client, path, other });
  },
};

interface Subtrees {
  readonly client: Client;
  readonly path: string;
  readonly other: string;
}

/** Walks both at once, in one order, so that neither has to fit into memory. */
async function compareSubtrees(
  { flags, output, shell, signal }: Invocation,
  { client, path, other }: Subtrees,
): Promise<JsonObject> {
  const report = new Report(output, flags.has("q"));
  const progress = new Progress(output, "compared");
  const [left, right] = [path, other].map((start) => walk(client, start, { detail: "data", signal }));
  if (left === undefined || right === undefined) throw usageError("diff takes two paths");
  let [a, b] = await Promise.all([left.next(), right.next()]);
  while (a.done !== true || b.done !== true) {
    const order =
      a.done === true ? 1 : b.done === true ? -1 : comparePaths(movedPath(a.value.path, path, other), b.value.path);
    if (order < 0 && a.done !== true) report.removed(a.value);
    else if (order > 0 && b.done !== true) report.added(b.value);
    else if (a.done !== true && b.done !== true) report.both(a.value, b.value);
    progress.step((a.done === true ? b.value?.path : a.value.path) ?? path);
    [a, b] = await Promise.all([order <= 0 ? left.next() : a, order >= 0 ? right.next() : b]);
  }
  if (report.isDifferent) shell.endsWith(ExitStatus.FAILED);
  noteForbidden(output, report.unread, [" and was not compared", " and were not compared"]);
  return { path, other, ...report.counts };
}

/** Prints differences as they are found. */
class Report {
  readonly counts = { same: 0, removed: 0, added: 0, changed: 0, unread: 0 };
  readonly #output: Output;
  readonly #isQuiet: boolean;

  constructor(output: Output, isQuiet: boolean) {
    this.#output = output;
    this.#isQuiet = isQuiet;
  }

  get isDifferent(): boolean {
    const { removed, added, changed } = this.counts;
    return removed + added + changed > 0;
  }

  get unread(): number {
    return this.counts.unread;
  }

  removed({ path }: WalkedNode): void {
    this.counts.removed++;
    this.#output.line(`- ${shownText(path)}`);
    this.#output.json({ command: "diff", item: { removed: path } });
  }

  added({ path }: WalkedNode): void {
    this.counts.added++;
    this.#output.line(`+ ${shownText(path)}`);
    this.#output.json({ command: "diff", item: { added: path } });
  }

  both(left: WalkedNode, right: WalkedNode): void {
    if (left.stat === null || right.stat === null) {
      this.counts.unread++;
      return;
    }
    if (isSame(left.data, right.data)) {
      this.counts.same++;
      return;
    }
    this.counts.changed++;
    this.#output.line(`! ${shownText(left.path)} ${shownText(right.path)}`);
    if (!this.#isQuiet) this.#output.lines(dataDiff(left.data, right.data).map((line) => `  ${line}`));
    this.#output.json({
      command: "diff",
      item: { changed: left.path, other: right.path, ...(this.#isQuiet ? {} : valuesOf(left, right)) },
    });
  }
}

function valuesOf(left: WalkedNode, right: WalkedNode): JsonObject {
  return { from: dataJson(left.data), to: dataJson(right.data) };
}

interface Comparison {
  readonly client: Client;
  readonly path: string;
  readonly file: string;
}

async function compareWithFile(invocation: Invocation, { client, path, file }: Comparison): Promise<JsonObject> {
  const { flags, output, shell, signal } = invocation;
  const bytes = await readLocal(file, invocation);
  const { data } = await client.get(path, { signal });
  const same = isSame(data, bytes);
  if (!same) {
    output.line(`! ${shownText(path)} ${file}`);
    if (!flags.has("q")) output.lines(dataDiff(data, bytes).map((line) => `  ${line}`));
    shell.endsWith(ExitStatus.FAILED);
  }
  return { path, file, same };
}

async function readLocal(file: string, { connection, signal }: Invocation): Promise<Uint8Array> {
  const bytesMax = connection.frameBytesMax;
  const { bytes, sizeText } = await readLocalFile(file, { bytesMax, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`cannot read ${file}: ${reason}`, { code: "UNREADABLE_FILE" });
  });
  if (bytes !== undefined) return bytes;
  const text = `${file} has ${sizeText} bytes, and an answer with a node's data at most ${bytesMax}`;
  throw new CliError(text, { code: "PACKET_TOO_LARGE" });
}

/** No data and empty data are the same here: clients differ in which of them they write. */
function isSame(left: Uint8Array | null, right: Uint8Array | null): boolean {
  return Buffer.compare(left ?? new Uint8Array(0), right ?? new Uint8Array(0)) === 0;
}

/** For a person: lines of text, or the sizes of anything else. */
export function dataDiff(left: Uint8Array | null, right: Uint8Array | null): readonly string[] {
  const [before, after] = [textOf(left), textOf(right)];
  if (before === undefined || after === undefined) {
    return [`binary data differ: ${counted(left?.length ?? 0, "byte")} and ${counted(right?.length ?? 0, "byte")}`];
  }
  return lineDiff(before, after).map(shownText);
}
