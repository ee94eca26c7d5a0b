import { type FileHandle, open, rm } from "node:fs/promises";
import { CliError } from "./cli-error.ts";

/** It may hold data of nodes and access lists. */
const FILE_MODE = 0o600;

/** A file that a command makes. It is removed again unless the command keeps it. */
export class NewFile implements AsyncDisposable {
  readonly #file: string;
  readonly #handle: FileHandle;
  #isKept = false;

  /** @throws UNWRITABLE_FILE, also for a file that exists, so that no other one is lost */
  static async open(file: string): Promise<NewFile> {
    try {
      return new NewFile(file, await open(file, "wx", FILE_MODE));
    } catch (error) {
      throw unwritable(error);
    }
  }

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  async write(text: string): Promise<void> {
    try {
      await this.#handle.writeFile(text);
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** Everything is written: it is on the disk when this resolves. */
  async keep(): Promise<void> {
    try {
      await this.#handle.sync();
    } catch (error) {
      throw unwritable(error);
    }
    this.#isKept = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    if (!this.#isKept) await rm(this.#file, { force: true });
  }
}

function unwritable(error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError(`the file cannot be written: ${reason}`, {
    code: "UNWRITABLE_FILE",
    hint: "name a file that does not exist yet",
  });
}
