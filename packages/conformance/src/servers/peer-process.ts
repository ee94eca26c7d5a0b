/**
 * Programs of other clients that are controlled by lines: one for each command and one for each
 * answer.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export class PeerProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterableIterator<string>;
  readonly #ended: Promise<number | NodeJS.Signals>;

  constructor(program: string, args: readonly string[]) {
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    const ended = Promise.withResolvers<number | NodeJS.Signals>();
    this.#process.once("exit", (code, signal) => ended.resolve(code ?? signal ?? 0));
    this.#process.once("error", ended.reject);
    this.#ended = ended.promise;
  }

  /** All that it prints until it ends. */
  answers(): AsyncIterable<string> {
    return this.#answers;
  }

  /** Its status, or the signal that ended it. */
  exit(): Promise<number | NodeJS.Signals> {
    return this.#ended;
  }

  async answer(): Promise<string> {
    const { value } = await this.#answers.next();
    return String(value);
  }

  tell(...command: readonly unknown[]): void {
    this.#process.stdin.write(`${command.join(" ")}\n`);
  }

  ask(...command: readonly unknown[]): Promise<string> {
    this.tell(...command);
    return this.answer();
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }
}

/** A program of clients/curator. */
export class CuratorPeer extends PeerProcess {
  /** @param main the program's class */
  constructor(classpath: string, main: string, ...args: readonly string[]) {
    super("java", ["-cp", classpath, main, ...args]);
  }
}
