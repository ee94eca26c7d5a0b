/** One section of a JAAS file: the options of each of its login modules. */
export interface JaasModule {
  /** The class by its whole name. */
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Words, quoted strings, and the punctuation of the file's grammar; blanks and comments lie
 * between.
 */
const TOKEN = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*("(?:[^"\\\n]|\\.)*"|[{}=;]|[^\s{}=;"]+)?/y;

/**
 * Reads a JAAS login configuration: `Section { class flag name="value" …; … };`. Nothing in it is
 * expanded. A section that is there twice is invalid, as for Java, and so is an option with two
 * values, of which Java takes the last.
 *
 * @returns the sections by name, or a sentence that says what is wrong
 */
export function parseJaas(text: string): ReadonlyMap<string, readonly JaasModule[]> | string {
  const tokens = tokenize(text);
  if (tokens === undefined) return "has a quotation or a comment that does not end";
  const sections = new Map<string, readonly JaasModule[]>();
  let at = 0;
  const next = (): string => tokens[at++] ?? "";
  while (at < tokens.length) {
    const section = unquoted(next());
    if (next() !== "{") return `expects { behind ${section}`;
    const modules: JaasModule[] = [];
    while (tokens[at] !== "}") {
      if (at >= tokens.length) return `has a section ${section} that does not end`;
      const name = unquoted(next());
      const flag = next().toLowerCase();
      if (!FLAGS.has(flag)) return `expects required, requisite, sufficient or optional behind ${name}`;
      const options = new Map<string, string>();
      while (tokens[at] !== ";") {
        const key = unquoted(next());
        if (next() !== "=" || at >= tokens.length) return `expects name=value; in section ${section}, found ${key}`;
        const value = unquoted(next());
        if ((options.get(key) ?? value) !== value)
          return `has ${key} twice in section ${section}, with different values`;
        options.set(key, value);
      }
      at++;
      modules.push({ name, options });
    }
    at++;
    if (next() !== ";") return `expects ; behind the section ${section}`;
    if (sections.has(section)) return `has two sections ${section}`;
    sections.set(section, modules);
  }
  return sections;
}

const FLAGS: ReadonlySet<string> = new Set(["required", "requisite", "sufficient", "optional"]);

function tokenize(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token !== undefined) tokens.push(token);
    else if (TOKEN.lastIndex <= start || TOKEN.lastIndex < text.length) return undefined;
  }
  return tokens.some((token) => token.startsWith("/*")) ? undefined : tokens;
}

function unquoted(token: string): string {
  return token.startsWith('"') ? token.slice(1, -1).replace(/\\(.)/g, "$1") : token;
}
