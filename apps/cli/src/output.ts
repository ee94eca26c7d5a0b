export type Json = string | number | boolean | null | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Writes text as it is, line ends included. */
export type TextSink = (text: string) => void;

export interface OutputOptions {
  readonly format: "text" | "json";
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Whether stdout may carry colours. */
  readonly hasColors?: boolean;
}

/**
 * The output of commands. In text format results go to stdout and messages to stderr, as in zkCli.
 * In JSON both are silent; the result of a command is one object on one line of stdout, and an
 * event one on stderr.
 */
export class Output {
  readonly format: "text" | "json";
  readonly hasColors: boolean;
  readonly #stdout: TextSink;
  readonly #stderr: TextSink;

  constructor({ format, stdout, stderr, hasColors = false }: OutputOptions) {
    this.format = format;
    this.hasColors = hasColors;
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** Text as it is, with its line ends. */
  text(text: string): void {
    if (this.format === "text") this.#stdout(text);
  }

  line(text: string): void {
    if (this.format === "text") this.#stdout(`${text}\n`);
  }

  lines(texts: readonly string[]): void {
    if (this.format === "text" && texts.length > 0) this.#stdout(`${texts.join("\n")}\n`);
  }

  /** A message or an error. */
  note(text: string): void {
    if (this.format === "text") this.#stderr(`${text}\n`);
  }

  /** Progress for interactive users, in all formats: not a result. */
  progress(text: string): void {
    this.#stderr(`${text}\n`);
  }

  /** Prints an event beside the commands, on stderr: stdout has one result for each command. */
  eventJson(value: JsonObject): void {
    if (this.format === "json") this.#stderr(`${JSON.stringify(value)}\n`);
  }

  json(value: JsonObject): void {
    if (this.format === "json") this.#stdout(`${JSON.stringify(value)}\n`);
  }
}
