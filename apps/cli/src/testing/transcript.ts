/** The output so far. */
export class Transcript {
  stdout = "";
  stderr = "";
  #hasEnded = false;
  #wake: () => void = () => undefined;

  toStdout(text: string): void {
    this.stdout += text;
    this.#wake();
  }

  toStderr(text: string): void {
    this.stderr += text;
    this.#wake();
  }

  /** Nothing more comes. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** Resolves when a text has come, on either stream. */
  async shows(text: string): Promise<void> {
    while (!this.stdout.includes(text) && !this.stderr.includes(text)) {
      if (this.#hasEnded) throw new Error(`ended without "${text}": ${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Without what is said about the connection. */
  get results(): string {
    return results(this.stdout);
  }

  /** One for each line. */
  get objects(): readonly Readonly<Record<string, unknown>>[] {
    return objects(this.stdout);
  }
}

export function results(stdout: string): string {
  return stdout.replace(/^Connecting to .*\n/, "").replace(/\nWATCHER::\n\nWatchedEvent .*\n/g, "");
}

export function objects(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
