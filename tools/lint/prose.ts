/**
 * Phrases that are no plain technical English, found in comments, names of tests, sentences for
 * users and Markdown.
 */

export interface ProseRule {
  /** For the message. */
  readonly phrase: string;
  /** Applied to each line of a comment, without the comment's marks. */
  readonly pattern: RegExp;
  readonly instead: string;
}

export const PROSE_RULES: readonly ProseRule[] = [
  rule(
    "so many, so long, so much",
    /\bso (?:many|long|much)\b(?! that)/i,
    "the number's name: at most `count`, time until",
  ),
  rule("a docstring that begins with Of", /^\/\*\* Of |^\* Of [a-z]/, "the thing's name first"),
  rule("for ever", /\bfor ever\b/i, "indefinitely, or never again"),
  rule("anew", /\banew\b/i, "again"),
  rule("in vain", /\bin vain\b/i, "the result"),
  rule("by itself", /\bby itself\b/i, "alone, automatically, or unasked"),
  rule("goes on", /\bgo(?:es)? on\b/i, "continues"),
  rule("as it was", /\bas it was\b(?! when)/i, "unchanged"),
  rule("at all", /\bat all\b(?! (?:of|servers|nodes|members|levels)\b)/i, "nothing: leave it out"),
  rule("word, sign of life", /\b(?:has my|without its own|the last) word\b|\bsigns? of life\b/i, "promise, keep-alive"),
  rule(
    "a docstring that begins with What or Who",
    /^\/\*\* (?:What|Who) |^\* (?:What|Who) [a-z]/,
    "the subject: the result of …, the bytes of …, the voters in …",
  ),
  rule("is told", /\b(?:is|are|was|were) told\b|\btold of\b/i, "gets, reads, learns"),
  rule("on its way", /\bon (?:its|their) way\b/i, "in transit, or before it is there"),
  rule("nobody, whoever", /\b(?:nobody|whoever)\b/i, "no client, no server, each of them"),
];

function rule(phrase: string, pattern: RegExp, instead: string): ProseRule {
  return { phrase, pattern, instead };
}

export interface ProseFault {
  readonly rule: ProseRule;
  /** From 1 on. */
  readonly line: number;
  readonly text: string;
}

const COMMENT = /^\s*(?<text>\/\*\*.*|\*.*|\/\/.*)$|\s(?<end>\/\/ .*)$/;

/** The phrases in the comments of a source, by lines. */
export function proseFaults(source: string): readonly ProseFault[] {
  return source.split("\n").flatMap((line, index) => {
    const groups = COMMENT.exec(line)?.groups;
    const text = groups?.["text"] ?? groups?.["end"];
    // The name of a rule is an identifier.
    if (text === undefined || text.startsWith("// rule:")) return [];
    return faultsOf(text, index + 1);
  });
}

/**
 * The columns that a line of a comment may have. Diagrams, tables, fenced code, usages and linter
 * directives may be longer.
 */
export const COMMENT_COLUMNS_MAX = 100;

const FREE_FORM = /[│┌└├─▶◀]|^\s*(?:\*|\/\/) {2,}|^\s*\* \||biome-ignore|https?:\/\//;

/** The numbers of lines that consist of a comment and are too long. */
export function longCommentLines(source: string): readonly number[] {
  let isFenced = false;
  return source.split("\n").flatMap((line, index) => {
    if (/^\s*\* ?\s*```/.test(line)) isFenced = !isFenced;
    const isComment = /^\s*(?:\/\*\*|\*|\/\/)(?: |$)/.test(line);
    return isComment && !isFenced && line.length > COMMENT_COLUMNS_MAX && !FREE_FORM.test(line) ? [index + 1] : [];
  });
}

const TEST_NAME =
  /^\s*(?:(?:test|describe|it|core|installs)(?:\.\w+(?:\([^"]*\))?)*\(|\][^"]*\)\(|(?="[^"]*",$))\s*"((?:[^"\\]|\\.)*)"/;

/** The phrases in the names of a file's tests, by lines. */
export function testNameFaults(source: string): readonly ProseFault[] {
  return source.split("\n").flatMap((line, index) => {
    const name = TEST_NAME.exec(line)?.[1];
    return name === undefined ? [] : faultsOf(name, index + 1);
  });
}

const STRING = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g;

/** The phrases in a source's strings of several words: errors, log lines, help. */
export function stringFaults(source: string): readonly ProseFault[] {
  return source.split("\n").flatMap((line, index) => {
    if (COMMENT.exec(line)?.groups?.["text"] !== undefined) return [];
    return [...line.matchAll(STRING)].flatMap(([, quoted = "", template = ""]) => {
      const text = quoted || template;
      return text.includes(" ") ? faultsOf(text, index + 1) : [];
    });
  });
}

/** The phrases in a page, but for its code. */
export function markdownFaults(page: string): readonly ProseFault[] {
  let isFenced = false;
  return page.split("\n").flatMap((line, index) => {
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    return isFenced ? [] : faultsOf(line.replace(/`[^`]*`/g, "`code`"), index + 1);
  });
}

function faultsOf(text: string, line: number): readonly ProseFault[] {
  return PROSE_RULES.filter(({ pattern }) => pattern.test(text)).map((found) => ({
    rule: found,
    line,
    text: text.trim(),
  }));
}
