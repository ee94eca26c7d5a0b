/**
 * Paragraphs of Markdown have one sentence a line, so that a change of one sentence is a change of
 * one line.
 */

/** A code span, a link, or a word, with what touches it. */
const ATOM = /(?:`[^`]*`|\[[^\]]*\](?:\([^)]*\))?|[^\s`[])+|\S/g;
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$/i;
const SENTENCE_END = /[.!?]["')\]*_]*$/;
const SENTENCE_BEGIN = /^["'(*_]*[A-Z0-9`[]/;
const NUMBER = /^\(?\d+[.)]$/;

/**
 * The sentences of a line or paragraph. A sentence in brackets, a list's number and an abbreviation
 * end none.
 */
export function sentencesOf(text: string): readonly string[] {
  const atoms = text.match(ATOM) ?? [];
  const sentences: string[] = [];
  let words: string[] = [];
  let depth = 0;
  for (const [index, atom] of atoms.entries()) {
    words.push(atom);
    const bare = atom.replaceAll(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, "");
    depth += count(bare, "(") - count(bare, ")");
    const next = atoms[index + 1];
    const ends = SENTENCE_END.test(atom) && !ABBREVIATION.test(atom) && !NUMBER.test(atom) && depth <= 0;
    if (next !== undefined && ends && SENTENCE_BEGIN.test(next) && !NUMBER.test(next)) {
      sentences.push(words.join(" "));
      words = [];
      depth = 0;
    }
  }
  return words.length === 0 ? sentences : [...sentences, words.join(" ")];
}

/**
 * The numbers of the lines of a page that have more than one sentence. Tables, headings and code
 * are left out.
 */
export function crowdedLines(page: string): readonly number[] {
  let isFenced = false;
  return page.split("\n").flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced || /^\s*(?:\||#|>|<|\[[^\]]+\]:|```)/.test(line) || /^ {4}\S/.test(line)) return [];
    return sentencesOf(line).length > 1 ? [index + 1] : [];
  });
}

function count(text: string, letter: string): number {
  return text.split(letter).length - 1;
}
