/** The keys of a terminal in transit to readline, without those of a search in the history. */
import { clearScreenDown, cursorTo } from "node:readline";
import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { CTRL_R, ReverseSearch, type SearchStep } from "./reverse-search.ts";

export interface TerminalInputOptions {
  readonly source: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
  /** Newest first; undefined while no line is being typed. */
  history(): readonly string[] | undefined;
  /** Draws prompt and line again. */
  redraw(): void;
}

/** As keys, to the end of the line and then to delete up to its start. */
const CLEAR_LINE = "\u0005\u0015";

export class TerminalInput extends Readable {
  readonly #options: TerminalInputOptions;
  readonly #decoder = new StringDecoder("utf8");
  #search: ReverseSearch | undefined;

  constructor(options: TerminalInputOptions) {
    super({ read: () => options.source.resume() });
    this.#options = options;
    options.source.on("data", this.#take);
    options.source.on("end", this.#end);
  }

  get isSearching(): boolean {
    return this.#search !== undefined;
  }

  /** Readline expects it of a terminal. */
  setRawMode(isRaw: boolean): this {
    this.#options.source.setRawMode?.(isRaw);
    return this;
  }

  /** Readline pauses its input for another program, which then reads from the terminal itself. */
  override pause(): this {
    this.#options.source.pause();
    return super.pause();
  }

  override resume(): this {
    this.#options.source.resume();
    return super.resume();
  }

  /** Draws the search instead of the line. */
  drawSearch(): void {
    const { output } = this.#options;
    cursorTo(output, 0);
    clearScreenDown(output);
    output.write(this.#search?.text ?? "");
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#options.source.off("data", this.#take);
    this.#options.source.off("end", this.#end);
    callback(error);
  }

  readonly #take = (chunk: Buffer | string): void => {
    let keys = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    while (keys !== "") keys = this.#search === undefined ? this.#pass(keys) : this.#press(this.#search, keys);
  };

  readonly #end = (): void => {
    this.push(null);
  };

  /** @returns the keys that are left */
  #pass(keys: string): string {
    const at = keys.indexOf(CTRL_R);
    const history = at === -1 ? undefined : this.#options.history();
    if (history === undefined) {
      this.push(keys);
      return "";
    }
    if (at > 0) this.push(keys.slice(0, at));
    this.#search = new ReverseSearch(history);
    this.drawSearch();
    return keys.slice(at + 1);
  }

  #press(search: ReverseSearch, keys: string): string {
    const [letter = ""] = keys;
    const rest = keys.slice(letter.length);
    this.#carryOut(search.press(letter, rest));
    return rest;
  }

  #carryOut(step: SearchStep): void {
    switch (step.kind) {
      case "continue":
        this.drawSearch();
        return;
      case "cancel":
        this.#search = undefined;
        this.#options.redraw();
        return;
      case "accept":
        this.#search = undefined;
        this.push(CLEAR_LINE + step.line + step.keys);
    }
  }
}
