/** Commands in this process, where no process of their own is needed. */
import { Connection, FRAME_BYTES_MAX } from "../connection/connection.ts";
import { Interpreter } from "../interpreter.ts";
import { Output } from "../output.ts";
import { Transcript } from "./transcript.ts";

/** A connection with the settings of a command without options; it is not open yet. */
export function connectionTo(server: string, output: Output): Connection {
  return new Connection({
    server,
    timeoutMs: 10_000,
    isReadOnly: false,
    waitsForConnection: false,
    frameBytesMax: FRAME_BYTES_MAX,
    output,
  });
}

export class Session implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #format: "text" | "json";

  /** Opens a session; each of its commands has a transcript of its own. */
  static async open(server: string, format: "text" | "json" = "text"): Promise<Session> {
    const silent = new Output({ format, stdout: () => undefined, stderr: () => undefined });
    const connection = connectionTo(server, silent);
    await connection.open();
    return new Session(connection, format);
  }

  private constructor(connection: Connection, format: "text" | "json") {
    this.#connection = connection;
    this.#format = format;
  }

  /** Runs a command to its end. */
  async run(...words: readonly string[]): Promise<RunningCommand> {
    const command = this.start(...words);
    await command.ended;
    return command;
  }

  start(...words: readonly string[]): RunningCommand {
    return new RunningCommand(words, this.#connection, this.#format);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}

export class RunningCommand extends Transcript {
  /** With its status. */
  readonly ended: Promise<number>;
  readonly #controller = new AbortController();

  constructor(words: readonly string[], connection: Connection, format: "text" | "json") {
    super();
    const output = new Output({
      format,
      stdout: (text) => this.toStdout(text),
      stderr: (text) => this.toStderr(text),
    });
    const interpreter = new Interpreter(connection, output);
    this.ended = interpreter.run(words, this.#controller.signal).then(() => {
      this.end();
      return interpreter.exitStatus;
    });
  }

  /** As Ctrl-C does. */
  giveUp(): void {
    this.#controller.abort();
  }
}
