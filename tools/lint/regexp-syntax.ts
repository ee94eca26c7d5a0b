/**
 * Reads a regular expression into a tree that says what can repeat and what can follow what. A
 * class of characters is the set of those samples that JavaScript itself finds in it, so that no
 * meaning of an escape is written down twice.
 */

export type RegexpNode =
  /** One character of a set: the numbers of the samples in it. */
  | { readonly kind: "characters"; readonly samples: ReadonlySet<number> }
  | { readonly kind: "sequence"; readonly parts: readonly RegexpNode[] }
  | { readonly kind: "choice"; readonly branches: readonly RegexpNode[] }
  | { readonly kind: "repeat"; readonly part: RegexpNode; readonly min: number; readonly max: number }
  /** `$`: the text ends here, or with the flag m a line does, in front of one of these samples. */
  | { readonly kind: "end"; readonly before: ReadonlySet<number> }
  /** Consumes nothing, and may fail. */
  | { readonly kind: "assertion"; readonly part: RegexpNode | undefined }
  /** `^` without the flag m: nothing stands before it. */
  | { readonly kind: "start" };

export interface Regexp {
  readonly node: RegexpNode;
  readonly sampleCount: number;
}

const BEYOND_LATIN1 = [
  ..."\u0100\u017f\u0130\u0131\u0660\u1680\u1e9e\u2000\u2028\u2029\u202f\u205f\u212a\u3000\u4e00\ufeff\uffff",
];
const ASTRAL = ["\u{1f600}", "\u{10ffff}"];

/**
 * @throws SyntaxError for a form that this reader does not know, such as operations on sets (flag
 *   v)
 */
export function parseRegexp(pattern: string, flags: string): Regexp {
  // Throws on its own for a text that is no regular expression.
  new RegExp(pattern, flags);
  if (flags.includes("v")) throw new SyntaxError("the flag v is not known here");
  const samples = samplesOf(pattern, flags);
  return { node: new RegexpReader(pattern, flags, samples).whole(), sampleCount: samples.length };
}

function samplesOf(pattern: string, flags: string): readonly string[] {
  const latin1 = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  const escaped = [...pattern.matchAll(/\\u\{?([0-9a-fA-F]{1,6})/g)].map(([, hex]) => Number.parseInt(hex ?? "0", 16));
  const named = escaped
    .filter((code) => code <= 0x10ffff)
    .map((code) => String.fromCodePoint(code))
    .filter((char) => char.length === 1 || flags.includes("u"));
  const own = flags.includes("u") ? [...pattern, ...ASTRAL] : pattern.split("");
  return [...new Set([...latin1, ...BEYOND_LATIN1, ...own, ...named])];
}

class RegexpReader {
  readonly #pattern: string;
  readonly #flags: string;
  readonly #samples: readonly string[];
  readonly #sets = new Map<string, ReadonlySet<number>>();
  #at = 0;

  constructor(pattern: string, flags: string, samples: readonly string[]) {
    this.#pattern = pattern;
    this.#flags = flags.replace(/[gyd]/g, "");
    this.#samples = samples;
  }

  whole(): RegexpNode {
    const node = this.#choice();
    if (this.#at < this.#pattern.length) throw new SyntaxError(`"${this.#rest}" was not expected`);
    return node;
  }

  #choice(): RegexpNode {
    const branches = [this.#sequence()];
    while (this.#takes("|")) branches.push(this.#sequence());
    const [only] = branches;
    return branches.length === 1 && only !== undefined ? only : { kind: "choice", branches };
  }

  #sequence(): RegexpNode {
    const parts: RegexpNode[] = [];
    while (this.#at < this.#pattern.length && !this.#rest.startsWith("|") && !this.#rest.startsWith(")")) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: "sequence", parts };
  }

  #repeated(part: RegexpNode): RegexpNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return part;
    this.#takes("?");
    return { kind: "repeat", part, ...bounds };
  }

  #bounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.#takes("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#takes("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#takes("?")) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(this.#rest);
    if (counted === null) return undefined;
    const [all, min, comma, max] = counted;
    this.#at += all.length;
    if (comma === "") return { min: Number(min), max: Number(min) };
    return { min: Number(min), max: max === "" ? Number.POSITIVE_INFINITY : Number(max) };
  }

  #atom(): RegexpNode {
    if (this.#takes("^")) return this.#flags.includes("m") ? { kind: "assertion", part: undefined } : { kind: "start" };
    if (this.#takes("$"))
      return { kind: "end", before: this.#flags.includes("m") ? this.#samplesIn("[\\n\\r\\u2028\\u2029]") : new Set() };
    if (this.#takes("\\b") || this.#takes("\\B")) return { kind: "assertion", part: undefined };
    if (this.#takes("(")) return this.#group();
    if (this.#rest.startsWith("[")) return this.#characters(this.#classLength());
    if (/^\\(?:[1-9]|k<)/.test(this.#rest)) throw new SyntaxError("a reference back to a group is not known here");
    const escaped = /^\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])/.exec(
      this.#rest,
    );
    if (escaped !== null) return this.#characters(escaped[0].length);
    const [char = ""] = this.#flags.includes("u") ? this.#rest : [this.#rest.charAt(0)];
    return this.#characters(char.length);
  }

  #group(): RegexpNode {
    const lookAround = ["?=", "?!", "?<=", "?<!"].some((form) => this.#takes(form));
    if (!lookAround && !this.#takes("?:")) {
      const name = /^\?<[^>]*>/.exec(this.#rest)?.[0] ?? "";
      if (name === "" && this.#rest.startsWith("?"))
        throw new SyntaxError(`a group "(${this.#rest}" is not known here`);
      this.#at += name.length;
    }
    const part = this.#choice();
    if (!this.#takes(")")) throw new SyntaxError('a ")" is missing');
    return lookAround ? { kind: "assertion", part } : part;
  }

  #classLength(): number {
    const rest = this.#rest;
    for (let at = 1; at < rest.length; at++) {
      if (rest[at] === "\\") at++;
      else if (rest[at] === "]") return at + 1;
    }
    throw new SyntaxError('a "]" is missing');
  }

  #characters(length: number): RegexpNode {
    const source = this.#pattern.slice(this.#at, this.#at + length);
    this.#at += length;
    return { kind: "characters", samples: this.#samplesIn(source) };
  }

  #samplesIn(source: string): ReadonlySet<number> {
    let samples = this.#sets.get(source);
    if (samples === undefined) {
      const one = new RegExp(`^(?:${source})$`, this.#flags.replace("m", ""));
      samples = new Set(this.#samples.flatMap((sample, i) => (one.test(sample) ? [i] : [])));
      this.#sets.set(source, samples);
    }
    return samples;
  }

  #takes(text: string): boolean {
    if (!this.#rest.startsWith(text)) return false;
    this.#at += text.length;
    return true;
  }

  get #rest(): string {
    return this.#pattern.slice(this.#at);
  }
}
