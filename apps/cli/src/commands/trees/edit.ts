import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isZkError, type Stat } from "@zooid/client";
import { CliError } from "../../cli-error.ts";
import { type Command, clientFor, givenNode, type Invocation } from "../../command.ts";
import { refusalText } from "../../explain-error.ts";
import { shownText, textOf } from "../../texts/shown-text.ts";
import { statJson } from "../../texts/stat-text.ts";
import { nameOf } from "../../walk.ts";
import { dataDiff } from "./diff.ts";

export const edit: Command = {
  name: "edit",
  synopsis: "[--yes] path",
  flags: [{ name: "yes", isOwn: true }],
  summary:
    "Opens a node's text in $VISUAL or $EDITOR, shows the difference, and writes it if the node has not changed " +
    "meanwhile; --yes without a question.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const { path, client } = await givenNode(invocation);
    const { data, stat } = await client.get(path, { signal });
    const text = textOf(data);
    if (text === undefined) {
      throw new CliError(`${path} has data that are no text`, {
        code: "BAD_ARGUMENTS",
        path,
        hint: "print them with get --hex, and write them in base64 with set -b",
      });
    }
    const copy = new EditedCopy(path, text);
    let isKept = false;
    try {
      const edited = await copy.edit(invocation);
      if (edited === text) {
        output.line("unchanged");
        return { path, changed: false };
      }
      output.lines(dataDiff(data, Buffer.from(edited)));
      if (!flags.has("yes") && !(await confirmed(invocation, path))) {
        isKept = true;
        output.note(`not written; the text is kept in ${copy.file}`);
        return { path, changed: false, file: copy.file };
      }
      isKept = true;
      const written = await write(invocation, { path, edited, stat, file: copy.file });
      isKept = false;
      output.line(`${shownText(path)} has version ${written.version}`);
      return { path, changed: true, stat: statJson(written) };
    } finally {
      if (!isKept) copy.remove();
    }
  },
};

interface Writing {
  readonly path: string;
  readonly edited: string;
  readonly stat: Stat;
  /** Where the text is kept if the write is refused. */
  readonly file: string;
}

async function write(invocation: Invocation, { path, edited, stat, file }: Writing): Promise<Stat> {
  const client = await clientFor(invocation, path);
  try {
    return await client.set(path, edited, { version: stat.version, signal: invocation.signal });
  } catch (error) {
    if (!isZkError(error, "BAD_VERSION")) {
      invocation.output.note(`the text is kept in ${file}`);
      throw error;
    }
    throw new CliError(`${refusalText("BAD_VERSION", path)}; the text is kept in ${file}`, {
      code: "BAD_VERSION",
      path,
      plain: `another client has written ${path} meanwhile`,
      hint: `the text is kept in ${file}: compare it with diff --file ${file} ${path}`,
    });
  }
}

/** @throws CliError where there is no terminal to ask at */
async function confirmed({ shell, signal }: Invocation, path: string): Promise<boolean> {
  const answer = await shell.ask(`write this to ${shownText(path)}? [y/N] `, signal);
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new CliError("there is no terminal to ask at", { code: "USAGE", hint: "edit --yes writes without a question" });
}

/** A file that only its owner can read, in a directory of its own. */
class EditedCopy {
  readonly file: string;
  readonly #directory: string;
  readonly #endsWithLine: boolean;

  constructor(path: string, text: string) {
    this.#directory = mkdtempSync(join(tmpdir(), "zooid-edit-"));
    // An editor chooses colours by the name.
    this.file = join(this.#directory, nameOf(path).replaceAll(/[^\w.-]/g, "_") || "root");
    this.#endsWithLine = text.endsWith("\n");
    writeFileSync(this.file, text, { mode: 0o600 });
  }

  async edit({ shell, signal }: Invocation): Promise<string> {
    const { VISUAL, EDITOR } = process.env;
    const editor = VISUAL || EDITOR || "vi";
    // As git does: the variable may have arguments.
    const args = ["-c", `${editor} "$@"`, editor, this.file];
    const status = await shell.lendTerminal(async () => {
      const child = spawn("sh", args, { stdio: "inherit", signal });
      const [code]: (number | null)[] = await once(child, "exit");
      return code ?? null;
    });
    if (status !== 0) {
      throw new CliError(`${editor} ended with status ${status ?? "of a signal"}; nothing is written`, {
        code: "PROGRAM_UNUSABLE",
        hint: "name an editor in VISUAL or EDITOR",
      });
    }
    const edited = readFileSync(this.file, "utf8");
    // Editors end the last line, which the node's data may not have done.
    return !this.#endsWithLine && edited.endsWith("\n") ? edited.slice(0, -1) : edited;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
