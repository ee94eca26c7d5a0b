/**
 * Ctrl-R, which Node's readline does not have: the newest line of the history that contains what is
 * typed. Ctrl-R again goes to an older one, Backspace takes a letter back, Enter runs the line,
 * Ctrl-G and Ctrl-C return to the line that was being typed, any other key edits the line found.
 */

/** The step after a key. `accept`: the line found is put into readline, and then `keys` are. */
export type SearchStep =
  | { readonly kind: "continue" }
  | { readonly kind: "cancel" }
  | { readonly kind: "accept"; readonly line: string; readonly keys: string };

const CONTINUE: SearchStep = { kind: "continue" };
const CTRL_C = "\u0003";
const CTRL_G = "\u0007";
const BACKSPACES: ReadonlySet<string> = new Set(["\b", "\u007f"]);
export const CTRL_R = "\u0012";
const ESCAPE = "\u001b";

export class ReverseSearch {
  readonly #lines: readonly string[];
  #query = "";
  /** Index of the line found, which stays where nothing older matches; -1 before the first. */
  #at = -1;
  #isFailed = false;

  /** @param lines newest first */
  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** For the terminal, instead of prompt and line. */
  get text(): string {
    return `(${this.#isFailed ? "failed " : ""}reverse-i-search)\`${this.#query}': ${this.#lines[this.#at] ?? ""}`;
  }

  /** @param rest the letters that arrived behind this one: an arrow key is three letters */
  press(letter: string, rest: string): SearchStep {
    if (letter === CTRL_R) this.#find(this.#at + 1);
    else if (BACKSPACES.has(letter)) {
      this.#query = this.#query.slice(0, -1);
      this.#find(0);
    } else if (letter === CTRL_C || letter === CTRL_G) return { kind: "cancel" };
    else if (letter < " ") return this.#accept(letter === ESCAPE && rest === "" ? "" : letter);
    else {
      this.#query += letter;
      this.#find(Math.max(0, this.#at));
    }
    return CONTINUE;
  }

  #find(from: number): void {
    const query = this.#query;
    if (query === "") {
      this.#at = -1;
      this.#isFailed = false;
      return;
    }
    // An older line is another line: the same one several times in a row is passed over.
    const shown = from > this.#at ? this.#lines[this.#at] : undefined;
    const at = this.#lines.findIndex((line, index) => index >= from && line !== shown && line.includes(query));
    this.#isFailed = at === -1;
    if (at !== -1) this.#at = at;
  }

  #accept(keys: string): SearchStep {
    const line = this.#lines[this.#at];
    return line === undefined ? { kind: "cancel" } : { kind: "accept", line, keys };
  }
}
