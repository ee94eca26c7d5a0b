/**
 * Splits a line into words as zkCli does, which is simpler than in shells: a word that starts with
 * a quote ends at the next one of its kind and loses both; any other word ends at a blank, and
 * quotes inside it are ordinary. An unclosed quote is skipped.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (let at = skipBlanks(line, 0); at < line.length; at = skipBlanks(line, at)) {
    const first = line[at] ?? "";
    if (!QUOTES.has(first)) {
      const end = endOfWord(line, at);
      words.push(line.slice(at, end));
      at = end;
      continue;
    }
    const close = line.indexOf(first, at + 1);
    if (close !== -1) words.push(line.slice(at + 1, close));
    at = close === -1 ? at + 1 : close + 1;
  }
  return words;
}

const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);
/** Java's white space in patterns, a subset of JavaScript's. */
const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\n", "\v", "\f", "\r"]);

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && BLANKS.has(line[at] ?? "")) at++;
  return at;
}

function endOfWord(line: string, from: number): number {
  let at = from;
  while (at < line.length && !BLANKS.has(line[at] ?? "")) at++;
  return at;
}
