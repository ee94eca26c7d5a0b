export type Json = string | number | boolean | null | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Takes text as it is to be written, line ends included. */
export type TextSink = (text: string) => void;

export interface OutputOptions {
  readonly format: "text" | "json";
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Whether stdout may carry colours. */
  readonly hasColors?: boolean;
}

/**
 * Where commands write. For text, results go to stdout and what is about them to stderr, as zkCli splits it. For JSON both are silent,
 * and what a command comes to is one object on one line of stdout.
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

  line(text: string): void {
    if (this.format === "text") this.#stdout(`${text}\n`);
  }

  lines(texts: readonly string[]): void {
    if (this.format === "text" && texts.length > 0) this.#stdout(`${texts.join("\n")}\n`);
  }

  /** A remark, or an error. */
  note(text: string): void {
    if (this.format === "text") this.#stderr(`${text}\n`);
  }

  /** For people who wait, whatever the format: it is no result. */
  progress(text: string): void {
    this.#stderr(`${text}\n`);
  }

  json(value: JsonObject): void {
    if (this.format === "json") this.#stdout(`${JSON.stringify(value)}\n`);
  }
}
